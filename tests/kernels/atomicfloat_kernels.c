/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicfloat_kernels.h"

#include <gpurt/atomicfloat.h>
#include <gpurt/device.h>

GPURT_KERNEL(floats_convert, struct floats_args, p)
{
    uint32_t id = gpurt_global_id();
    gpurt_f16_t half = {(uint16_t)id};
    gpurt_bf16_t brain = {(uint16_t)id};

    p->up[id] = gpurt_bits_of_f32(gpurt_f16_to_f32(half));
    p->up[FLOATS_HALVES + id] = gpurt_bits_of_f32(gpurt_bf16_to_f32(brain));
    for (uint32_t i = id; i < 2 * FLOATS_NEAR * FLOATS_HALVES; i += FLOATS_HALVES) {
        float value = gpurt_f32_of_bits(p->floats[i]);

        p->down[i] = i < FLOATS_NEAR * FLOATS_HALVES ? gpurt_f16_from_f32(value).bits
                                                     : gpurt_bf16_from_f32(value).bits;
    }
}

/* Relaxed: the words are the lane's own. */
#define FLOATS_SUM(t, pair, sum)                                                       \
    do {                                                                               \
        gpurt_##t##_t *cell = (gpurt_##t##_t *)&p->cells[id];                          \
        gpurt_##pair##_t *two = (gpurt_##pair##_t *)&p->cells[id];                     \
        gpurt_##t##_t a = {(uint16_t)id}, b = {other};                                 \
        gpurt_##pair##_t both = {{b, b}};                                              \
                                                                                       \
        gpurt_store_relaxed_dev_##t(cell, a);                                          \
        gpurt_red_add_relaxed_dev_##t(cell, b);                                        \
        out[(sum)*FLOATS_HALVES] = gpurt_load_relaxed_dev_##t(cell).bits;              \
        gpurt_store_relaxed_dev_##t(&two->at[0], a);                                   \
        gpurt_store_relaxed_dev_##t(&two->at[1], b);                                   \
        gpurt_red_add_relaxed_dev_##pair(two, both);                                   \
        out[(sum + 1) * FLOATS_HALVES] = gpurt_load_relaxed_dev_##t(&two->at[0]).bits; \
        out[(sum + 2) * FLOATS_HALVES] = gpurt_load_relaxed_dev_##t(&two->at[1]).bits; \
    } while (0)
GPURT_KERNEL(floats_sums, struct floats_args, p)
{
    uint32_t id = gpurt_global_id();

    for (uint32_t round = 0; round < FLOATS_ROUNDS; round++) {
        uint16_t other = floats_operand(id, round);
        uint16_t *out = p->sums + (size_t)round * FLOATS_SUMS * FLOATS_HALVES + id;

        FLOATS_SUM(f16, f16x2, 0);
        FLOATS_SUM(bf16, bf16x2, 3);
    }
}

/* ---- each form once, with numbers that all types hold -------------------------------- */
/* A type's values as those of its parts. */
GPURT_HD float floats_part_f32(const float *v, uint32_t part)
{
    (void)part;
    return *v;
}
GPURT_HD float floats_part_f64(const double *v, uint32_t part)
{
    (void)part;
    return (float)*v;
}
GPURT_HD float floats_part_f16(const gpurt_f16_t *v, uint32_t part)
{
    (void)part;
    return gpurt_f16_to_f32(*v);
}
GPURT_HD float floats_part_bf16(const gpurt_bf16_t *v, uint32_t part)
{
    (void)part;
    return gpurt_bf16_to_f32(*v);
}
GPURT_HD float floats_part_f16x2(const gpurt_f16x2_t *v, uint32_t part)
{
    return gpurt_f16_to_f32(v->at[part]);
}
GPURT_HD float floats_part_bf16x2(const gpurt_bf16x2_t *v, uint32_t part)
{
    return gpurt_bf16_to_f32(v->at[part]);
}
GPURT_HD float floats_part_f32x2(const gpurt_f32x2_t *v, uint32_t part)
{
    return part ? v->y : v->x;
}
GPURT_HD float floats_part_f32x4(const gpurt_f32x4_t *v, uint32_t part)
{
    return part == 0 ? v->x : part == 1 ? v->y : part == 2 ? v->z : v->w;
}

/* Part i is first + i * step. */
GPURT_HD float floats_make_f32(float first, float step)
{
    (void)step;
    return first;
}
GPURT_HD double floats_make_f64(float first, float step)
{
    (void)step;
    return first;
}
GPURT_HD gpurt_f16_t floats_make_f16(float first, float step)
{
    (void)step;
    return gpurt_f16_from_f32(first);
}
GPURT_HD gpurt_bf16_t floats_make_bf16(float first, float step)
{
    (void)step;
    return gpurt_bf16_from_f32(first);
}
GPURT_HD gpurt_f16x2_t floats_make_f16x2(float first, float step)
{
    return gpurt_f16x2_from_f32(first, first + step);
}
GPURT_HD gpurt_bf16x2_t floats_make_bf16x2(float first, float step)
{
    return gpurt_bf16x2_from_f32(first, first + step);
}
GPURT_HD gpurt_f32x2_t floats_make_f32x2(float first, float step)
{
    gpurt_f32x2_t v = {first, first + step};

    return v;
}
GPURT_HD gpurt_f32x4_t floats_make_f32x4(float first, float step)
{
    gpurt_f32x4_t v = {first, first + step, first + 2 * step, first + 3 * step};

    return v;
}

#define FLOATS_DEFINE_IS(T, t, parts)                                    \
    GPURT_DEV bool floats_is_##t(const T *v, float first, float step)    \
    {                                                                    \
        bool is = true;                                                  \
                                                                         \
        for (uint32_t i = 0; i < (parts); i++)                           \
            is = is && floats_part_##t(v, i) == first + (float)i * step; \
        return is;                                                       \
    }
FLOATS_DEFINE_IS(float, f32, 1)
FLOATS_DEFINE_IS(double, f64, 1)
FLOATS_DEFINE_IS(gpurt_f16_t, f16, 1)
FLOATS_DEFINE_IS(gpurt_bf16_t, bf16, 1)
FLOATS_DEFINE_IS(gpurt_f16x2_t, f16x2, 2)
FLOATS_DEFINE_IS(gpurt_bf16x2_t, bf16x2, 2)
FLOATS_DEFINE_IS(gpurt_f32x2_t, f32x2, 2)
FLOATS_DEFINE_IS(gpurt_f32x4_t, f32x4, 4)

/* The cell is the lane's own, so plain accesses before and after are in order. */
#define FLOATS_ADD(T, t, o, s)                                                          \
    do {                                                                                \
        T *cell = (T *)place, old;                                                      \
                                                                                        \
        form++;                                                                         \
        *cell = floats_make_##t(before, 2);                                             \
        old = gpurt_add_##o##_##s##_##t(cell, floats_make_##t(by, -3));                 \
        if (!wrong &&                                                                   \
            (!floats_is_##t(&old, before, 2) || !floats_is_##t(cell, before + by, -1))) \
            wrong = form;                                                               \
    } while (0);
#define FLOATS_RED(T, t, o, s)                                        \
    do {                                                              \
        T *cell = (T *)place;                                         \
                                                                      \
        form++;                                                       \
        *cell = floats_make_##t(before, 2);                           \
        gpurt_red_add_##o##_##s##_##t(cell, floats_make_##t(by, -3)); \
        if (!wrong && !floats_is_##t(cell, before + by, -1))          \
            wrong = form;                                             \
    } while (0);
#define FLOATS_ADDS_NEAR(T, t) GPURT_FOR_ORDERS(FLOATS_ADD, T, t)
#define FLOATS_REDS_NEAR(T, t)     \
    FLOATS_RED(T, t, relaxed, blk) \
    FLOATS_RED(T, t, relaxed, clu) \
    FLOATS_RED(T, t, release, blk) FLOATS_RED(T, t, release, clu)
#define FLOATS_FAR(T, t)            \
    GPURT_FOR_FAR(FLOATS_ADD, T, t) \
    FLOATS_RED(T, t, relaxed, dev)  \
    FLOATS_RED(T, t, relaxed, sys)  \
    FLOATS_RED(T, t, release, dev) FLOATS_RED(T, t, release, sys)

#define FLOATS_DEFINE_FORMS(T, t)                                                       \
    GPURT_DEVN uint32_t floats_forms_##t(void *place, bool far, float before, float by) \
    {                                                                                   \
        uint32_t form = 0, wrong = 0;                                                   \
                                                                                        \
        FLOATS_ADDS_NEAR(T, t)                                                          \
        FLOATS_REDS_NEAR(T, t)                                                          \
        if (far) {                                                                      \
            FLOATS_FAR(T, t)                                                            \
        }                                                                               \
        return wrong;                                                                   \
    }
FLOATS_DEFINE_FORMS(float, f32)
FLOATS_DEFINE_FORMS(double, f64)
FLOATS_DEFINE_FORMS(gpurt_f16_t, f16)
FLOATS_DEFINE_FORMS(gpurt_bf16_t, bf16)
FLOATS_DEFINE_FORMS(gpurt_f16x2_t, f16x2)
FLOATS_DEFINE_FORMS(gpurt_bf16x2_t, bf16x2)
FLOATS_DEFINE_FORMS(gpurt_f32x2_t, f32x2)
FLOATS_DEFINE_FORMS(gpurt_f32x4_t, f32x4)

#define FLOATS_TRY(t, type, at)                                 \
    do {                                                        \
        uint32_t form_ = floats_forms_##t(at, far, before, by); \
                                                                \
        if (form_ && !wrong)                                    \
            wrong = (type) << 8 | form_;                        \
    } while (0)
/* A half also in the upper half of its word, whose lower one must stay. */
GPURT_KERNEL(floats_forms, struct floats_args, p)
{
    GPURT_SHARED(gpurt_u128_t, own, FLOATS_THREADS);
    uint32_t id = gpurt_global_id(), wrong = 0;
    bool far = p->place == FLOATS_GLOBAL;
    float before = (float)(1 + id % 7), by = (float)(2 + id % 5);
    void *place = far ? (void *)((gpurt_u128_t *)(void *)p->cells + id)
                      : (void *)&own[gpurt_thread_rank()];
    uint16_t *halves = (uint16_t *)place;

    FLOATS_TRY(f32, 1, place);
    FLOATS_TRY(f64, 2, place);
    FLOATS_TRY(f16x2, 5, place);
    FLOATS_TRY(bf16x2, 6, place);
    FLOATS_TRY(f32x2, 7, place);
    FLOATS_TRY(f32x4, 8, place);
    halves[0] = halves[2] = 0x7c01; /* a NaN that an addition would change */
    FLOATS_TRY(f16, 3, halves + 1);
    FLOATS_TRY(bf16, 4, halves + 1);
    if (!wrong && (halves[0] != 0x7c01 || halves[2] != 0x7c01))
        wrong = 9 << 8;
    FLOATS_TRY(f16, 3, halves);
    FLOATS_TRY(bf16, 4, halves);
    p->wrong[id] = wrong;
}

/* ---- many lanes on one vector ---------------------------------------------------------- */
/* Each part counts from 0: each answer comes once. Relaxed: what is counted is looked at when the
 * kernel has ended, what is in shared memory behind a barrier. */
#define FLOATS_COUNT(T, t, type, parts, add)                                        \
    do {                                                                            \
        T old = add((T *)(void *)&place[type], floats_make_##t(1, 0));              \
                                                                                    \
        for (uint32_t i = 0; i < (parts); i++) {                                    \
            uint32_t answer = (uint32_t)floats_part_##t(&old, i);                   \
                                                                                    \
            if (answer < FLOATS_ADDS)                                               \
                gpurt_add_relaxed_dev_u32(                                          \
                    &p->seen[((type)*FLOATS_PARTS + i) * FLOATS_ADDS + answer], 1); \
        }                                                                           \
    } while (0)
#define FLOATS_COUNTS(s)                                                            \
    do {                                                                            \
        FLOATS_COUNT(float, f32, 0, 1, gpurt_add_relaxed_##s##_f32);                \
        FLOATS_COUNT(double, f64, 1, 1, gpurt_add_relaxed_##s##_f64);               \
        FLOATS_COUNT(gpurt_f16_t, f16, 2, 1, gpurt_add_relaxed_##s##_f16);          \
        FLOATS_COUNT(gpurt_bf16_t, bf16, 3, 1, gpurt_add_relaxed_##s##_bf16);       \
        FLOATS_COUNT(gpurt_f16x2_t, f16x2, 4, 2, gpurt_add_relaxed_##s##_f16x2);    \
        FLOATS_COUNT(gpurt_bf16x2_t, bf16x2, 5, 2, gpurt_add_relaxed_##s##_bf16x2); \
        FLOATS_COUNT(gpurt_f32x2_t, f32x2, 6, 2, gpurt_add_relaxed_##s##_f32x2);    \
        FLOATS_COUNT(gpurt_f32x4_t, f32x4, 7, 4, gpurt_add_relaxed_##s##_f32x4);    \
    } while (0)
#define FLOATS_LEFT(T, t, type, parts)     \
    for (uint32_t i = 0; i < (parts); i++) \
    p->left[(type)*FLOATS_PARTS + i] = floats_part_##t((T *)(void *)&place[type], i)

GPURT_DEV void floats_note(const struct floats_args *p, gpurt_u128_t *place)
{
    FLOATS_LEFT(float, f32, 0, 1);
    FLOATS_LEFT(double, f64, 1, 1);
    FLOATS_LEFT(gpurt_f16_t, f16, 2, 1);
    FLOATS_LEFT(gpurt_bf16_t, bf16, 3, 1);
    FLOATS_LEFT(gpurt_f16x2_t, f16x2, 4, 2);
    FLOATS_LEFT(gpurt_bf16x2_t, bf16x2, 5, 2);
    FLOATS_LEFT(gpurt_f32x2_t, f32x2, 6, 2);
    FLOATS_LEFT(gpurt_f32x4_t, f32x4, 7, 4);
}

/* In shared memory: one block, or one cluster whose blocks all use the first one's. */
GPURT_KERNEL(floats_storm, struct floats_args, p)
{
    GPURT_SHARED(gpurt_u128_t, own, FLOATS_TYPES);
    gpurt_u128_t none = {0, 0}, *place = own;

    if (p->place == FLOATS_GLOBAL) {
        place = (gpurt_u128_t *)(void *)p->cells;
        FLOATS_COUNTS(far);
        return;
    }
    if (gpurt_thread_rank() < FLOATS_TYPES)
        own[gpurt_thread_rank()] = none;
    if (p->place == FLOATS_OTHERS) {
        place = (gpurt_u128_t *)gpurt_cluster_shared(own, 0);
        gpurt_cluster_barrier();
        if (gpurt_thread_rank() & 1u)
            FLOATS_COUNTS(clu);
        else
            FLOATS_COUNTS(sys);
        gpurt_cluster_barrier();
    } else {
        gpurt_block_barrier();
        if (gpurt_thread_rank() & 1u)
            FLOATS_COUNTS(blk);
        else
            FLOATS_COUNTS(dev);
        gpurt_block_barrier();
    }
    if (gpurt_global_id() == 0)
        floats_note(p, own);
}

/* The first block adds to all elements, x before w, the second looks at x before w: where it sees more
 * in x, it has looked between two elements. wrong: how often. */
GPURT_KERNEL(floats_between, struct floats_args, p)
{
    gpurt_f32x4_t *four = (gpurt_f32x4_t *)(void *)p->cells, one = floats_make_f32x4(1, 0);
    uint32_t between = 0;

    for (uint32_t i = 0; i < 64; i++)
        if (gpurt_block_rank() == 0) {
            gpurt_red_add_relaxed_dev_f32x4(four, one); /* relaxed, all: counts */
        } else {
            float x = gpurt_load_relaxed_dev_f32(&four->x);

            between += x > gpurt_load_relaxed_dev_f32(&four->w) ? 1u : 0u;
        }
    p->wrong[gpurt_global_id()] = between;
}

/* ---- what differs by back end, and what is wrong --------------------------------------- */
/* The smallest f32 to one twice as large: in global memory, alone and in a vector; then shared. */
GPURT_KERNEL(floats_subnormal, struct floats_args, p)
{
    GPURT_SHARED(float, own, 1);
    float least = gpurt_f32_of_bits(1), *cell = (float *)p->cells;
    gpurt_f32x4_t *four = (gpurt_f32x4_t *)(void *)p->cells,
                  all = {least, least, least, least};

    if (gpurt_global_id() != 0)
        return;
    *cell = *own = gpurt_f32_of_bits(2);
    gpurt_red_add_relaxed_dev_f32(cell, least);
    gpurt_add_relaxed_blk_f32(own, least);
    p->left[0] = *cell;
    four->x = gpurt_f32_of_bits(2);
    gpurt_red_add_relaxed_dev_f32x4(four, all);
    p->left[1] = four->x;
    p->left[2] = *own;
}

/* A red of device scope in shared memory. */
GPURT_KERNEL(floats_astray, struct floats_args, p)
{
    GPURT_SHARED(gpurt_f32x4_t, own, 1);
    gpurt_f32x4_t one = floats_make_f32x4(1, 0);

    *own = one;
    for (uint32_t i = 0; i < 1024; i++)
        gpurt_red_add_relaxed_dev_f32x4(own, one);
    p->left[0] = own->x;
}
