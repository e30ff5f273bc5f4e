/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of an assertion, from the macro to the row of the log: both sides with their
 * types, the condition as text, the category, and the message; over all types, and with values
 * for which it holds, fails narrowly, and fails. */
#include "../check.h"
#include "../kernels/panic_kernels.h"
#include "boxmap.h"
#include "drain.h"
#include "life.h"
#include "panicrow.h"
#include "render.h"

#include <gpurt/gpurt.h>
#include <string.h>

GPURT_KERNEL_DECLARE(panic_compare, struct panic_form_args);
GPURT_KERNEL_DECLARE(panic_bound, struct panic_form_args);
GPURT_KERNEL_DECLARE(panic_form, struct panic_form_args);
GPURT_KERNEL_DECLARE(panic_off, struct panic_form_args);
GPURT_KERNEL_DECLARE(panic_full, struct panic_form_args);

enum {
    LANES = 32,
    SLOTS = 512
};

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_dictionary_t texts;
static gpurt_drain_t *drain;
static gpurt_t *rt;
static const gpurt_opened_t *opened;
static bool on_cpu;
static struct panic_form_args args;

/* The last panic. */
static struct {
    gpurt_row_t row;
    uint32_t words[GPLOG_ROW_WORDS + 1];
    uint32_t count;
    gpurt_panicrow_t p;
    char message[GPURT_MESSAGE_MAX], condition[GPURT_MESSAGE_MAX];
} told;

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s: %s", #call, err.text)

static gpurt_status_t take(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    (void)context;
    (void)e;
    CHECK_EQ(row->kind, GPURT_KIND_PANIC);
    memcpy(&told.row, row, sizeof *row + 4u * row->words);
    told.count++;
    return GPURT_OK;
}

static void text_of(uint32_t id, char out[GPURT_MESSAGE_MAX])
{
    gpurt_text_t text;

    gpurt_text_init(&text, out, GPURT_MESSAGE_MAX);
    if (id)
        gpurt_render_string(&texts, id, &text);
    out[text.used] = '\0';
}

static void read_told(void)
{
    gpurt_site_info_t site;
    gpurt_text_t text;

    CHECK_MSG(gpurt_dictionary_get(&texts, told.row.site, &site), "a panic has a site");
    gpurt_panicrow_read(&told.row, site.types, &told.p);
    gpurt_text_init(&text, told.message, sizeof told.message);
    gpurt_render_message(&texts, &told.row, 0, &text);
    told.message[text.used] = '\0';
    text_of(told.p.condition, told.condition);
}

/* Returns: panics that the launch made; the last of them is in `told`. */
static uint32_t launch_of(const gpurt_kernel_t *kernel, uint32_t which)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {LANES, 1, 1}};
    uint32_t raised, before = map.box->sections[0].xpanics, rows;

    args.which = which;
    *args.calls = 0;
    told.count = 0;
    OK(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
    OK(gpurt_sync(rt, &err));
    raised = map.box->sections[0].xpanics - before;
    for (int rounds = 0; told.count < raised && rounds < 1000; rounds++)
        OK(gpurt_drain_round(drain, &rows, &err));
    CHECK_EQ(told.count, raised);
    if (raised)
        read_told();
    return raised;
}
#define LAUNCH(kernel, which) launch_of(&gpurt_kernel_##kernel, which)

/* ---- comparisons --------------------------------------------------------------------- */

typedef struct pair {
    double a, b;
} pair_t;

static void set_all(double a, double b)
{
    const double v[2] = {a, b};

    for (int i = 0; i < 2; i++) {
        args.i32[i] = (int32_t)v[i];
        args.i64[i] = (int64_t)(v[i] * 4294967296.0);
        args.f32[i] = (float)v[i] / 4;
        args.f64[i] = v[i] / 3;
        args.u32[i] = v[i] < 0 ? 0xfffffff0u + (uint32_t)(v[i] + 16) : (uint32_t)v[i];
        args.u64[i] = (uint64_t)args.u32[i] << 32;
        args.ptr[i] = (char *)(uintptr_t)args.u64[i];
    }
}

static uint64_t bits_of(uint32_t type, int i)
{
    uint64_t bits = 0;

    switch (type) {
    case GPURT_TYPE_I32:
        return (uint32_t)args.i32[i];
    case GPURT_TYPE_U32:
        return args.u32[i];
    case GPURT_TYPE_I64:
        return (uint64_t)args.i64[i];
    case GPURT_TYPE_F32:
        memcpy(&bits, &args.f32[i], sizeof args.f32[i]);
        return bits;
    case GPURT_TYPE_F64:
        memcpy(&bits, &args.f64[i], sizeof args.f64[i]);
        return bits;
    default:
        return args.u64[i];
    }
}

static bool holds(uint32_t op, uint32_t type)
{
    bool is_signed =
        type != GPURT_TYPE_U32 && type != GPURT_TYPE_U64 && type != GPURT_TYPE_PTR;
    int order = is_signed ? (args.i32[0] > args.i32[1]) - (args.i32[0] < args.i32[1])
                          : (args.u32[0] > args.u32[1]) - (args.u32[0] < args.u32[1]);
    const bool all[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};

    return all[op];
}

static const uint32_t types[] = {GPURT_TYPE_I32, GPURT_TYPE_U32, GPURT_TYPE_I64,
                                 GPURT_TYPE_U64, GPURT_TYPE_F32, GPURT_TYPE_F64,
                                 GPURT_TYPE_PTR};
static const char *const type_names[] = {"i32", "u32", "i64", "u64", "f32", "f64", "ptr"};
static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">="};

static void check_failed(uint32_t type, uint32_t category)
{
    CHECK_EQ(told.p.category, category);
    CHECK_EQ(told.p.own, 2);
    CHECK_EQ(told.p.arg_count, 2);
    CHECK_EQ(told.p.types, type | type << 4);
    CHECK_EQ(told.p.failed, GPURT_FULL_MASK);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(told.p.args[i], bits_of(type, (int)i));
        CHECK_EQ(told.p.known[i], GPURT_FULL_MASK);
        for (uint32_t lane = 0; lane < LANES; lane++)
            CHECK_EQ((uint32_t)told.p.lanes[i][lane], (uint32_t)bits_of(type, (int)i));
    }
}

static void compare_all(double a, double b)
{
    char condition[64];

    set_all(a, b);
    for (uint32_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (uint32_t op = 0; op < 6; op++) {
            uint32_t raised = LAUNCH(panic_compare, t * 6 + op);

            snprintf(condition, sizeof condition, "p->%s[0] %s p->%s[1]", type_names[t],
                     ops[op], type_names[t]);
            CHECK_MSG(raised == !holds(op, types[t]), "%s with %g and %g", condition, a, b);
            CHECK_EQ(*args.calls, raised ? 0 : LANES);
            if (!raised)
                continue;
            CHECK_STR(told.condition, condition);
            check_failed(types[t], GPURT_CATEGORY_COMPARE);
            CHECK_CONTAINS(told.message, condition);
            CHECK_CONTAINS(told.message, " does not hold: ");
        }
}

static void check_compares(void)
{
    compare_all(1, 2);
    compare_all(2, 2);
    compare_all(3, -2);
    /* NaN is in no relation but !=. */
    set_all(1, 1);
    args.f32[0] = __builtin_nanf("");
    CHECK_EQ(LAUNCH(panic_compare, PANIC_f32_LE), 1);
    CHECK_EQ(LAUNCH(panic_compare, PANIC_f32_EQ), 1);
    CHECK_EQ(LAUNCH(panic_compare, PANIC_f32_NE), 0);
}

/* ---- bounds -------------------------------------------------------------------------- */

static void bounds_all(double i, double n, uint32_t passing)
{
    set_all(i, n);
    args.i64[0] = (int64_t)i;
    args.i64[1] = (int64_t)n;
    args.u64[0] = args.u32[0];
    args.u64[1] = args.u32[1];
    for (uint32_t k = 0; k < PANIC_BOUND_COUNT; k++) {
        uint32_t raised = LAUNCH(panic_bound, k);

        CHECK_MSG(raised == !(passing >> k & 1), "case %u: %g in %g", k, i, n);
        CHECK_EQ(*args.calls, raised ? 0 : LANES);
        if (raised) {
            CHECK_EQ(told.p.category, GPURT_CATEGORY_BOUNDS);
            CHECK_CONTAINS(told.message, " out of bounds of ");
            CHECK_CONTAINS(told.condition, "0 <= p->");
        }
    }
}

static void check_bounds(void)
{
    uint32_t all = (1u << PANIC_BOUND_COUNT) - 1;

    bounds_all(0, 1, all);
    bounds_all(6, 7, all);
    bounds_all(7, 7, 0);
    bounds_all(0, 0, 0);
    bounds_all(-1, 7, 0);
    /* A negative count holds nothing; as an unsigned number it is a large one. */
    bounds_all(3, -1,
               1u << PANIC_BOUND_i32_u32 | 1u << PANIC_BOUND_u32_u32 |
                   1u << PANIC_BOUND_i64_u32 | 1u << PANIC_BOUND_u64_u64 |
                   1u << PANIC_BOUND_i32_u64);
    /* A negative index is below the largest count, as bits. */
    args.i32[0] = -5;
    args.u64[1] = UINT64_MAX;
    CHECK_EQ(LAUNCH(panic_bound, PANIC_BOUND_i32_u64), 1);
}

/* ---- forms --------------------------------------------------------------------------- */

typedef struct form {
    uint32_t category, own, failed;
    const char *message, *condition, *function;
} form_t;

static const form_t forms[PANIC_FORM_COUNT] = {
    [PANIC_FORM_PANIC] = {GPURT_CATEGORY_PANIC, 0, GPURT_FULL_MASK, "stopped at 5", "",
                          "gpurt_body_of_panic_form"},
    [PANIC_FORM_AS] = {GPURT_CATEGORY_USER + 3, 0, GPURT_FULL_MASK, "of our own", "",
                       "gpurt_body_of_panic_form"},
    [PANIC_FORM_UNREACHABLE] = {GPURT_CATEGORY_UNREACHABLE, 0, GPURT_FULL_MASK,
                                "unreachable code was reached", "",
                                "gpurt_body_of_panic_form"},
    [PANIC_FORM_ASSERT] = {GPURT_CATEGORY_ASSERT, 0, GPURT_FULL_MASK,
                           "p->u32[0] % 100 != 5 % 100 && p->u32[1] does not hold",
                           "p->u32[0] % 100 != 5 % 100 && p->u32[1]",
                           "gpurt_body_of_panic_form"},
    [PANIC_FORM_ASSERT_MESSAGE] = {GPURT_CATEGORY_ASSERT, 0, GPURT_FULL_MASK, "five -5%",
                                   "p->u32[0] != 5", "gpurt_body_of_panic_form"},
    [PANIC_FORM_COMPARE_MESSAGE] = {GPURT_CATEGORY_COMPARE, 2, GPURT_FULL_MASK,
                                    "of both, 2.5", "p->u64[0] < p->i32[1]",
                                    "gpurt_body_of_panic_form"},
    [PANIC_FORM_BOUNDS] = {GPURT_CATEGORY_BOUNDS, 2, GPURT_FULL_MASK,
                           "index -5 out of bounds of 9: 0 <= p->i32[0] < p->u32[1]",
                           "0 <= p->i32[0] < p->u32[1]", "gpurt_body_of_panic_form"},
    [PANIC_FORM_BOUNDS_MESSAGE] = {GPURT_CATEGORY_BOUNDS, 2, GPURT_FULL_MASK, "row 9",
                                   "0 <= p->i32[0] < 3", "gpurt_body_of_panic_form"},
    [PANIC_FORM_LANES] = {GPURT_CATEGORY_ASSERT, 0, 0xaaaaaaaau, "lane 10 of 5",
                          "lane % 2 == 0", "panic_lanes"},
    [PANIC_FORM_NULL] = {GPURT_CATEGORY_COMPARE, 2, GPURT_FULL_MASK,
                         "p->ptr[0] == NULL does not hold: 0x1234 and 0x0",
                         "p->ptr[0] == NULL", "gpurt_body_of_panic_form"},
    [PANIC_FORM_SMALL] = {0, 0, 0, NULL, NULL, NULL}, /* 5 and -5 differ */
    [PANIC_FORM_HELPER] = {GPURT_CATEGORY_COMPARE, 2, GPURT_FULL_MASK,
                           "p->u64[0] > p->u64[1] does not hold: 77 and 77",
                           "p->u64[0] > p->u64[1]", "panic_helper"},
    [PANIC_FORM_ONCE] = {GPURT_CATEGORY_COMPARE, 2, GPURT_FULL_MASK, "5",
                         "panic_called(p) < 1u", "gpurt_body_of_panic_form"},
};

static void check_place(uint32_t which)
{
    const gpurt_panicrow_t *p = &told.p;
    char kernel[GPURT_MESSAGE_MAX];

    CHECK_MSG(p->grid.x == 1 && p->grid.y == 1 && p->block_dim.x == LANES &&
                  p->block_dim.z == 1 && p->cluster_size == 1 && p->launch != 0,
              "form %u: the launch", which);
    CHECK_EQ(p->number, map.box->sections[0].xpanics - 1);
    CHECK_EQ(p->lane, (uint32_t)__builtin_ctz(p->failed));
    text_of(p->kernel, kernel);
    CHECK_STR(kernel, on_cpu ? "panic_form" : "");
}

static void check_form(uint32_t which)
{
    const form_t *f = &forms[which];
    uint32_t raised = LAUNCH(panic_form, which);
    char function[GPURT_MESSAGE_MAX];

    CHECK_EQ(raised, f->message != NULL);
    if (!raised)
        return;
    check_place(which);
    text_of(told.p.function, function);
    CHECK_STR(told.message, f->message);
    CHECK_STR(told.condition, f->condition);
    CHECK_STR(function, f->function);
    CHECK_EQ(told.p.category, f->category);
    CHECK_EQ(told.p.own, f->own);
    CHECK_EQ(told.p.failed, f->failed);
    CHECK_EQ(told.row.mask, GPURT_FULL_MASK);
}

static void check_forms(void)
{
    set_all(-5, 9);
    args.u32[0] = 5;
    args.u64[0] = args.u64[1] = 77;
    args.i32[1] = 2;
    args.f64[1] = 2.5;
    args.ptr[0] = (char *)(uintptr_t)0x1234;
    for (uint32_t i = 0; i < PANIC_FORM_COUNT; i++)
        check_form(i);

    /* Lanes that did not fail tell their value and go on. */
    CHECK_EQ(LAUNCH(panic_form, PANIC_FORM_LANES), 1);
    CHECK_EQ(told.p.known[0], GPURT_FULL_MASK);
    for (uint32_t lane = 0; lane < LANES; lane++)
        CHECK_EQ(told.p.lanes[0][lane], lane * 10);
    CHECK_EQ(*args.calls, LANES / 2);

    /* Once for each lane, each with its own value, and of two operands and a message's. */
    CHECK_EQ(LAUNCH(panic_form, PANIC_FORM_ONCE), 1);
    CHECK_EQ(*args.calls, LANES);
    for (uint64_t lane = 0, seen = 0; lane < LANES; lane++) {
        seen |= 1ull << told.p.lanes[0][lane];
        CHECK_EQ(told.p.lanes[1][lane], 1);
        if (lane == LANES - 1)
            CHECK_EQ(seen, 0x1fffffffeull);
    }
    CHECK_EQ(told.p.arg_count, 3);
    CHECK_EQ(told.p.args[2], 5);
    CHECK_EQ(LAUNCH(panic_form, PANIC_FORM_COMPARE_MESSAGE), 1);
    CHECK_EQ(told.p.types, GPURT_TYPE_U64 | GPURT_TYPE_I32 << 4 | GPURT_TYPE_STRING << 8 |
                               GPURT_TYPE_F64 << 12);
}

static void check_levels(void)
{
    args.u32[0] = 2;
    args.u32[1] = 1;
    CHECK_EQ(LAUNCH(panic_off, 0), 0);
    CHECK_EQ(*args.calls, LANES);
    CHECK_EQ(LAUNCH(panic_off, 1), 0);
    CHECK_EQ(*args.calls, LANES);
    CHECK_EQ(LAUNCH(panic_full, 0), 1);
    CHECK_EQ(*args.calls, LANES * 1000);
    CHECK_STR(told.message, "sorted");
    args.u32[1] = 2;
    CHECK_EQ(LAUNCH(panic_full, 0), 0);
    CHECK_EQ(*args.calls, LANES * 1001);
}

static void connect(void)
{
    const gpurt_options_t own = {.panics = GPURT_PANICS_OFF}; /* the box is the test's */
    gpurt_section_plan_t s = {.panic_count = SLOTS};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_drain_options_t options = {.struct_size = sizeof options,
                                     .sink_count = 1,
                                     .sinks = {{.put = take}},
                                     .dictionary = &texts};
    gpurt_info_t info;

    OK(gpurt_open(&own, &rt, &err));
    OK(gpurt_info(rt, &info));
    OK(gpurt_life_enter(rt, &opened, &err));
    gpurt_life_leave(opened, GPURT_OK);
    on_cpu = info.backend == GPURT_BACKEND_CPU;
    OK(gpurt_host_create(rt, sizeof *args.calls, (void **)&args.calls, &err));
    s.kind = on_cpu ? GPURT_SECTION_CPU : GPURT_SECTION_CUDA;
    s.sm_count = info.sm_count;
    s.warp_slots = info.warp_slots;
    OK(gpurt_boxmap_create(&plan, &map, &err));
    OK(opened->ops->box_connect(opened->self, &map, 0, &err));
    OK(gpurt_drain_open(&map, &options, &drain, &err));
}

int main(void)
{
    connect();
    check_compares();
    check_bounds();
    check_forms();
    check_levels();
    CHECK_MSG(map.box->sections[0].xpanics < SLOTS, "the test has slots enough");
    gpurt_drain_close(drain);
    gpurt_dictionary_fini(&texts);
    opened->ops->box_disconnect(opened->self, &map, 0);
    gpurt_boxmap_detach(&map);
    gpurt_host_destroy(rt, args.calls);
    OK(gpurt_close(rt, &err));
    return 0;
}
