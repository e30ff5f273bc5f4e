/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_text.h"

#include "collector_text.h"
#include "gpurows.h"
#include "host_text.h"
#include "memory_text.h"
#include "render.h"
#include "times_text.h"

#include <inttypes.h>
#include <string.h>

/* ---- words --------------------------------------------------------------------------- */

const char *activity_time(uint64_t ns, char buffer[24])
{
    double value = (double)ns;

    if (ns < 1000)
        snprintf(buffer, 24, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        snprintf(buffer, 24, "%.2f us", value / 1e3);
    else if (ns < 1000000000)
        snprintf(buffer, 24, "%.2f ms", value / 1e6);
    else
        snprintf(buffer, 24,
                 value < 1e14   ? "%.2f s"
                 : value < 1e17 ? "%.0f s"
                                : "%.2e s",
                 value / 1e9);
    return buffer;
}

const char *activity_bytes(uint64_t bytes, char buffer[24])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    for (; value >= 1024 && unit < 6; unit++)
        value /= 1024;
    snprintf(buffer, 24, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buffer;
}

const char *activity_rate(const gpurt_model_copy_t *c, char buffer[24])
{
    if (c->ns == 0)
        return "-";
    snprintf(buffer, 24, "%.2f GB/s", (double)c->timed_bytes / (double)c->ns);
    return buffer;
}

const char *activity_direction(uint32_t direction)
{
    static const char *const words[GPURT_COPY_KINDS] = {"unknown",         "host to device",
                                                        "device to host",  "on device",
                                                        "between devices", "on host"};

    return words[direction < GPURT_COPY_KINDS ? direction : 0];
}

const char *activity_memory(uint32_t memory)
{
    return memory == GPURT_MEMORY_PAGEABLE  ? "pageable"
           : memory == GPURT_MEMORY_PINNED  ? "pinned"
           : memory == GPURT_MEMORY_MANAGED ? "managed"
                                            : "";
}

const char *activity_copy(uint32_t direction, uint32_t memory, char buffer[40])
{
    const char *word = activity_memory(memory);

    snprintf(buffer, 40, "%s%s%s", activity_direction(direction), *word ? ", " : "", word);
    return buffer;
}

const char *activity_managed(uint32_t what)
{
    static const char *const words[GPURT_MANAGED_KINDS] = {
        "unknown",           "host to device", "device to host", "faults of the host",
        "faults of devices", "thrashing",      "throttling",     "mapped from afar",
        "between devices"};

    return words[what < GPURT_MANAGED_KINDS ? what : 0];
}

const char *activity_word(uint32_t kind)
{
#define WORD(kind_) [GPURT_KIND_##kind_ - GPURT_KIND_CUPTI]
    static const char *const words[] = {WORD(KERNEL) = "kernel",
                                        WORD(COPY) = "copy",
                                        WORD(FILL) = "fill",
                                        WORD(WAIT) = "wait",
                                        WORD(MEMORY) = "memory",
                                        WORD(GRAPH) = "graph",
                                        WORD(RANGE) = "range",
                                        WORD(OVERHEAD) = "overhead",
                                        WORD(CALL) = "call",
                                        WORD(COLLECTOR) = "collector",
                                        WORD(BUSY) = "busy",
                                        WORD(NODE) = "kernel",
                                        WORD(SAMPLE) = "sample",
                                        WORD(DEVICE_NODE) = "kernel",
                                        WORD(POOL) = "pool",
                                        WORD(MANAGED) = "managed",
                                        WORD(DRIVER_LAUNCH) = "launch",
                                        WORD(DEVICE) = "device",
                                        WORD(DEVICE_GRAPH) = "graph",
                                        WORD(LINE) = "line"};
#undef WORD

    return kind == GPURT_KIND_LAUNCH        ? "launch"
           : kind == GPURT_KIND_ENVIRONMENT ? "environment"
           : kind - GPURT_KIND_CUPTI < sizeof words / sizeof words[0]
               ? words[kind - GPURT_KIND_CUPTI]
               : "other";
}

const char *activity_occupancy(uint32_t hundredths, char buffer[16])
{
    if (hundredths == 0)
        return "-";
    snprintf(buffer, 16, "%" PRIu32 "%%", (hundredths + 50) / 100);
    return buffer;
}

const char *activity_measure(uint32_t measure)
{
    static const char *const words[GPURT_SAMPLE_MEASURES] = {"SMs active", "issued",
                                                             "memory", "tensor", "warps"};

    return words[measure < GPURT_SAMPLE_MEASURES ? measure : 0];
}

const char *activity_gpu(uint32_t place, const gpurt_model_gpu_t *g,
                         char buffer[ACTIVITY_GPU])
{
    int used = snprintf(buffer, ACTIVITY_GPU, "GPU %" PRIu32, place);

    if (g->other_names)
        used +=
            snprintf(buffer + used, ACTIVITY_GPU - (size_t)used,
                     " (%" PRIu32 " of process %" PRIu32, g->other_number, g->other_pid);
    if (g->other_names > 1)
        used += snprintf(buffer + used, ACTIVITY_GPU - (size_t)used,
                         " and %" PRIu32 " more", g->other_names - 1);
    if (g->other_names)
        snprintf(buffer + used, ACTIVITY_GPU - (size_t)used, ")");
    return buffer;
}

double activity_mean(const gpurt_model_measure_t *m)
{
    return m->count ? (double)m->sum / (double)m->count / 100 : 0;
}

/* ---- sums ---------------------------------------------------------------------------- */

activity_sum_t activity_sum(const gpurt_model_activity_t *a)
{
    activity_sum_t sum = {0};

    for (uint32_t i = 0; i < GPURT_MODEL_KERNEL_ROWS; i++) {
        if (a->kernels[i].kind == GPURT_KIND_GRAPH)
            continue;
        sum.names += i < GPURT_MODEL_KERNELS && a->kernels[i].times.count;
        sum.count += a->kernels[i].times.count;
        sum.untimed += a->kernels[i].times.untimed;
        sum.ns = gpurt_model_sum(sum.ns, a->kernels[i].times.total_ns);
    }
    sum.others = a->kernels[GPURT_MODEL_OTHER_KERNELS].times.count;
    return sum;
}

/* ---- plain --------------------------------------------------------------------------- */

static void plain_kernel(FILE *out, const gpurt_model_kernel_t *k, uint64_t whole)
{
    char filled[16];

    times_plain(out, &k->times, whole);
    fputc(' ', out);
    if (k->kind == GPURT_KIND_GRAPH) /* its kernels have them */
        fprintf(out, "%4s %6s %4s  ", "-", "-", "-");
    else
        fprintf(out, "%4" PRIu32 " %6" PRIu32 " %4s  ", k->registers, k->shared_bytes,
                activity_occupancy(k->occupancy, filled));
    times_plain_name(out, k->name, sizeof k->name, 80);
    fputc('\n', out);
}

static void plain_kernels(FILE *out, const gpurt_model_activity_t *a, uint32_t most)
{
    uint16_t order[GPUROWS_MOST];
    uint32_t count = gpurows_order(a, GPUROWS_KERNELS, 0, order);
    uint64_t whole = gpurows_whole_ns(a, GPUROWS_KERNELS);

    if (count) {
        times_plain_head(out);
        fputs(" regs shared  occ  kernel\n", out);
    }
    for (uint32_t i = 0; i < count && i < most; i++)
        plain_kernel(out, &a->kernels[order[i]], whole);
    times_plain_rest(out, count, most, gpurows_others(a, GPUROWS_KERNELS));
}

static void plain_copies(FILE *out, const gpurt_model_activity_t *a)
{
    char bytes[24], rate[24], name[40];

    for (uint32_t i = 0; i < GPURT_COPY_KINDS * GPURT_MEMORY_KINDS; i++) {
        const gpurt_model_copy_t *copy = activity_copies(a, i);

        if (copy->count)
            fprintf(out, "copies     %s: %" PRIu64 ", %s, %s\n",
                    activity_copy(i / GPURT_MEMORY_KINDS, i % GPURT_MEMORY_KINDS, name),
                    copy->count, activity_bytes(copy->bytes, bytes),
                    activity_rate(copy, rate));
    }
    for (uint32_t i = 0; i < GPURT_MANAGED_KINDS; i++)
        if (a->managed[i].count)
            fprintf(out, "managed    %s: %" PRIu64 ", %s, %s\n", activity_managed(i),
                    a->managed[i].count, activity_bytes(a->managed[i].bytes, bytes),
                    a->managed[i].bytes ? activity_rate(&a->managed[i], rate) : "-");
    if (a->fills.count)
        fprintf(out, "fills      %" PRIu64 ", %s, %s\n", a->fills.count,
                activity_bytes(a->fills.bytes, bytes), activity_rate(&a->fills, rate));
    if (a->waits.count)
        fprintf(out, "waits      %" PRIu64 ", %s\n", a->waits.count,
                activity_time(a->waits.ns, rate));
}

static void plain_samples(FILE *out, const char *name, const gpurt_model_gpu_t *g)
{
    fprintf(out, "%-10s %" PRIu64 " samples, mean:", name, g->samples);
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES; i++)
        if (g->measures[i].count)
            fprintf(out, " %s %.1f%%", activity_measure(i), activity_mean(&g->measures[i]));
    fputc('\n', out);
}

static void plain_model(FILE *out, const char *name, const gpurt_model_gpu_t *g)
{
    if (!g->name[0])
        return;
    fprintf(out, "%-10s ", name);
    times_plain_name(out, g->name, sizeof g->name, 80);
    fputc('\n', out);
}

static void plain_gpus(FILE *out, const gpurt_model_activity_t *a)
{
    char total[24], used[24], name[ACTIVITY_GPU];

    for (uint32_t i = 0; i < GPURT_MODEL_DEVICES; i++) {
        const gpurt_model_busy_t *b = &a->gpus[i].busy;
        const gpurt_activity_environment_t *e = &a->gpus[i].environment;

        activity_gpu(i, &a->gpus[i], name);
        plain_model(out, name, &a->gpus[i]);
        if (b->ns)
            fprintf(out,
                    "%-10s of %s: kernels %.1f%%, copies %.1f%%, told of the "
                    "end %.1f%%, launching %.1f%%, nothing asked %.1f%%\n",
                    name, activity_time(b->ns, total), times_percent(b->kernels, b->ns),
                    times_percent(b->copying, b->ns), times_percent(b->waiting, b->ns),
                    times_percent(b->launching, b->ns), times_percent(b->idle, b->ns));
        if (a->gpus[i].environment_ns)
            fprintf(out,
                    "%-10s at last %" PRIu32 "%% used, %s of memory, %" PRIu32
                    " W, %" PRIu32 " C, %" PRIu32 " MHz\n",
                    name, e->gpu_percent,
                    activity_bytes(gpurt_pair_value(e->memory_used), used),
                    e->milliwatts / 1000, e->celsius, e->sm_mhz);
        if (a->gpus[i].samples)
            plain_samples(out, name, &a->gpus[i]);
    }
    if (a->gpus_left_out)
        fprintf(out,
                "GPUs       %" PRIu64 " records of others, for which there is no room\n",
                a->gpus_left_out);
}

void activity_plain(FILE *out, const gpurt_model_activity_t *a, uint32_t most)
{
    activity_sum_t sum = activity_sum(a);
    char total[24], names[40];

    if (a->rows == 0)
        return;
    if (sum.count)
        fprintf(out,
                "kernels    %" PRIu64 " of %s names, %s on GPUs, %" PRIu64
                " without times\n",
                sum.count, times_names(sum.names, sum.others, names),
                activity_time(sum.ns, total), sum.untimed);
    if (a->graphs.count)
        fprintf(out,
                "graphs     launches: %" PRIu64 ", %s on GPUs; their kernels are "
                "not told apart (GPURT_CUPTI=default,nodes)\n",
                a->graphs.count, activity_time(a->graphs.ns, total));
    if (a->launches)
        fprintf(out, "launches   %" PRIu64 " told of before they were made\n", a->launches);
    host_plain_sums(out, a);
    plain_copies(out, a);
    memory_plain(out, a);
    plain_gpus(out, a);
    collector_plain(out, a);
    plain_kernels(out, a, most);
    host_plain(out, a, most);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_bytes(FILE *out, const gpurt_model_copy_t *c)
{
    fprintf(out,
            ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"ns\":%" PRIu64
            ",\"timed_bytes\":%" PRIu64 "}",
            c->count, c->bytes, c->ns, c->timed_bytes);
}

static void json_managed(FILE *out, const gpurt_model_activity_t *a)
{
    bool first = true;

    for (uint32_t i = 0; i < GPURT_MANAGED_KINDS; i++)
        if (a->managed[i].count) {
            fprintf(out, "%s{\"kind\":\"%s\"", first ? "" : ",", activity_managed(i));
            json_bytes(out, &a->managed[i]);
            first = false;
        }
}

/* null: the host's memory is not known, or has no part in it. */
static void json_copies(FILE *out, const gpurt_model_activity_t *a)
{
    bool first = true;

    for (uint32_t i = 0; i < GPURT_COPY_KINDS * GPURT_MEMORY_KINDS; i++) {
        const char *memory = activity_memory(i % GPURT_MEMORY_KINDS);
        const gpurt_model_copy_t *copy = activity_copies(a, i);

        if (copy->count == 0)
            continue;
        fprintf(out, "%s{\"kind\":\"%s\",\"memory\":", first ? "" : ",",
                activity_direction(i / GPURT_MEMORY_KINDS));
        if (*memory)
            fprintf(out, "\"%s\"", memory);
        else
            fputs("null", out);
        json_bytes(out, copy);
        first = false;
    }
}

/* null: of several graphs; and where no launch was looked into. */
static void json_graph(FILE *out, const gpurt_model_kernel_t *k, bool other, uint64_t whole)
{
    fputs("{\"graph\":", out);
    if (other)
        fputs("null", out);
    else
        fprintf(out, "%" PRIu32, k->graph);
    if (k->nodes)
        fprintf(out, ",\"nodes\":%" PRIu32 ",", k->nodes);
    else
        fputs(",\"nodes\":null,", out);
    times_json(out, &k->times, whole);
    if (k->pid)
        fprintf(out, ",\"pid\":%" PRIu32, k->pid);
    fputc('}', out);
}

static void json_kernel(FILE *out, const gpurt_model_kernel_t *k, uint64_t whole)
{
    fputs("{\"name\":\"", out);
    times_json_name(out, k->name, sizeof k->name);
    fputs("\",", out);
    times_json(out, &k->times, whole);
    fprintf(out, ",\"registers\":%" PRIu32 ",\"shared_bytes\":%" PRIu32, k->registers,
            k->shared_bytes);
    if (k->occupancy)
        fprintf(out, ",\"occupancy_percent\":%.2f", (double)k->occupancy / 100);
    else
        fputs(",\"occupancy_percent\":null", out);
    fprintf(out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]}", k->grid[0], k->grid[1],
            k->grid[2], k->block[0], k->block[1], k->block[2]);
}

/* Means over all samples; null: not known. */
static void json_samples(FILE *out, const gpurt_model_gpu_t *g)
{
    static const char *const keys[GPURT_SAMPLE_MEASURES] = {"sm_active", "issued", "memory",
                                                            "tensor", "warps"};

    fprintf(out, ",\"samples\":{\"count\":%" PRIu64, g->samples);
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES; i++)
        if (g->measures[i].count)
            fprintf(out, ",\"%s_percent\":%.2f", keys[i], activity_mean(&g->measures[i]));
        else
            fprintf(out, ",\"%s_percent\":null", keys[i]);
    fputc('}', out);
}

/* As nvidia-smi writes it, behind what kind of device it is. */
static void json_uuid(FILE *out, const uint8_t u[16])
{
    static const uint8_t none[16];

    if (memcmp(u, none, sizeof none) == 0)
        return;
    fprintf(out,
            ",\"uuid\":\"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
            "%02x%02x%02x%02x%02x%02x\"",
            u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
            u[13], u[14], u[15]);
}

static void json_gpu(FILE *out, uint32_t device, const gpurt_model_gpu_t *g)
{
    const gpurt_activity_environment_t *e = &g->environment;

    fprintf(out,
            "{\"device\":%" PRIu32 ",\"ns\":%" PRIu64 ",\"kernels_ns\":%" PRIu64
            ",\"copying_ns\":%" PRIu64 ",\"waiting_ns\":%" PRIu64
            ",\"launching_ns\":%" PRIu64 ",\"idle_ns\":%" PRIu64,
            device, g->busy.ns, g->busy.kernels, g->busy.copying, g->busy.waiting,
            g->busy.launching, g->busy.idle);
    if (g->environment_ns)
        fprintf(out,
                ",\"environment\":{\"ts_ns\":%" PRIu64 ",\"gpu_percent\":%" PRIu32
                ",\"memory_percent\":%" PRIu32 ",\"memory_used\":%" PRIu64
                ",\"memory_total\":%" PRIu64 ",\"milliwatts\":%" PRIu32
                ",\"milliwatts_limit\":%" PRIu32 ",\"celsius\":%" PRIu32
                ",\"sm_mhz\":%" PRIu32 ",\"memory_mhz\":%" PRIu32 "}",
                g->environment_ns, e->gpu_percent, e->memory_percent,
                gpurt_pair_value(e->memory_used), gpurt_pair_value(e->memory_total),
                e->milliwatts, e->milliwatts_limit, e->celsius, e->sm_mhz, e->memory_mhz);
    if (g->samples)
        json_samples(out, g);
    json_uuid(out, g->uuid);
    if (g->name[0]) {
        fputs(",\"name\":\"", out);
        times_json_name(out, g->name, sizeof g->name);
        fputc('"', out);
    }
    if (g->other_names)
        fprintf(out,
                ",\"called\":{\"device\":%" PRIu32 ",\"pid\":%" PRIu32 ",\"more\":%" PRIu32
                "}",
                g->other_number, g->other_pid, g->other_names - 1);
    fputc('}', out);
}

static void json_sums(FILE *out, const gpurt_model_activity_t *a)
{
    activity_sum_t sum = activity_sum(a);

    fprintf(out,
            "{\"kernels\":%" PRIu64 ",\"kernel_ns\":%" PRIu64 ",\"untimed\":%" PRIu64
            ",\"waits\":%" PRIu64 ",\"wait_ns\":%" PRIu64 ",\"graphs\":%" PRIu64
            ",\"graph_ns\":%" PRIu64 ",\"calls\":%" PRIu64 ",\"ranges\":%" PRIu64
            ",\"memory\":%" PRIu64 ",\"pools\":%" PRIu64 ",\"launches\":%" PRIu64
            ",\"overhead_ns\":%" PRIu64,
            sum.count, sum.ns, sum.untimed, a->waits.count, a->waits.ns, a->graphs.count,
            a->graphs.ns, a->calls.count, a->ranges, a->memory, a->pools, a->launches,
            a->overheads.ns);
    fputc(',', out);
    collector_json(out, a);
}

/* The rows of a kind, most time first. */
static void json_list(FILE *out, const gpurt_model_activity_t *a, uint32_t kind)
{
    uint16_t order[GPUROWS_MOST];
    uint32_t count = gpurows_order(a, GPUROWS_KERNELS, 0, order);
    uint64_t whole = gpurows_whole_ns(a, GPUROWS_KERNELS);
    bool first = true;

    for (uint32_t i = 0; i < count; i++) {
        const gpurt_model_kernel_t *k = &a->kernels[order[i]];

        if (k->kind != kind)
            continue;
        fputs(first ? "" : ",", out);
        first = false;
        if (kind == GPURT_KIND_GRAPH)
            json_graph(out, k, order[i] == GPURT_MODEL_OTHER_GRAPHS, whole);
        else
            json_kernel(out, k, whole);
    }
}

void activity_json(FILE *out, const gpurt_model_activity_t *a)
{
    bool first = true;

    json_sums(out, a);
    fputs(",\"copies\":[", out);
    json_copies(out, a);
    fputs("],\"managed\":[", out);
    json_managed(out, a);
    fputs("],\"fills\":{\"kind\":\"fill\"", out);
    json_bytes(out, &a->fills);
    fputs(",\"gpus\":[", out);
    for (uint32_t i = 0; i < GPURT_MODEL_DEVICES; i++)
        if (a->gpus[i].busy.ns || a->gpus[i].environment_ns || a->gpus[i].samples) {
            fputs(first ? "" : ",", out);
            json_gpu(out, i, &a->gpus[i]);
            first = false;
        }
    fprintf(out, "],\"gpus_left_out\":%" PRIu64 ",\"kernel_list\":[", a->gpus_left_out);
    json_list(out, a, GPURT_KIND_KERNEL);
    fputs("],\"graph_list\":[", out);
    json_list(out, a, GPURT_KIND_GRAPH);
    fputc(']', out);
    host_json(out, a);
    memory_json(out, a);
    fputc('}', out);
}
