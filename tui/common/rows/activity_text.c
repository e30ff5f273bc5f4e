/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_text.h"

#include "collector_text.h"
#include "gpurows.h"
#include "host_text.h"
#include "memory_text.h"
#include "plural.h"
#include "running_text.h"
#include "times_text.h"
#include "windows_text.h"

#include <inttypes.h>
#include <math.h>
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
        sum.ns = gpurt_model_sum(sum.ns, times_total(&a->kernels[i].times));
        sum.about |= a->kernels[i].times.about_ns != 0;
    }
    sum.others = a->kernels[GPURT_MODEL_OTHER_KERNELS].times.count;
    return sum;
}

/* Two standard deviations of a share of one half, in points: the widest there is. */
double activity_about(uint64_t samples)
{
    return samples ? 100 / sqrt((double)samples) : 100;
}

/* ---- plain --------------------------------------------------------------------------- */

static void plain_kernel(FILE *out, const gpurt_model_activity_t *a, uint32_t index,
                         uint64_t whole)
{
    const gpurt_model_kernel_t *k = &a->kernels[index];
    char filled[16];
    bool about;
    double share = gpurows_share(a, GPUROWS_KERNELS, index, whole, &about);

    times_plain(out, &k->times, share, about);
    fputc(' ', out);
    if (k->kind == GPURT_KIND_GRAPH ||
        k->registers == 0) /* its kernels have them; counted */
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
    const activity_sum_t sum = activity_sum(a);

    if (count) {
        times_plain_head(out);
        fputs(" regs shared  occ  kernel\n", out);
    }
    for (uint32_t i = 0; i < count && i < most; i++)
        plain_kernel(out, a, order[i], whole);
    if (count && whole == 0 && a->warp_samples)
        fprintf(out, "  ~ shares of %" PRIu64 " samples of warps, true to %.2g points\n",
                a->warp_samples, activity_about(a->warp_samples));
    windows_plain_error(out, a, sum.count - sum.untimed, whole);
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
    fprintf(out, "%-10s %" PRIu64 " sample%s, mean:", name, g->samples,
            gpurt_plural(g->samples, "s"));
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

/* waits: there are records of them. */
static void plain_busy(FILE *out, const char *name, const gpurt_model_busy_t *b, bool waits)
{
    char total[24];

    fprintf(out, "%-10s of %s: kernels %.1f%%, copies %.1f%%, ", name,
            activity_time(b->ns, total), times_percent(b->kernels, b->ns),
            times_percent(b->copying, b->ns));
    if (waits)
        fprintf(out, "completion latency %.1f%%, ", times_percent(b->waiting, b->ns));
    fprintf(out, "launch latency %.1f%%, idle %.1f%%%s\n",
            times_percent(b->launching, b->ns), times_percent(b->idle, b->ns),
            waits ? "" : "; completion latency among these: add host-waits to --cupti");
}

static void plain_gpus(FILE *out, const gpurt_model_activity_t *a)
{
    char used[24], name[ACTIVITY_GPU];

    for (uint32_t i = 0; i < GPURT_MODEL_DEVICES; i++) {
        const gpurt_model_busy_t *b = &a->gpus[i].busy;
        const gpurt_activity_environment_t *e = &a->gpus[i].environment;

        activity_gpu(i, &a->gpus[i], name);
        plain_model(out, name, &a->gpus[i]);
        if (b->ns)
            plain_busy(out, name, b, a->waits.count != 0);
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
                "GPUs       %" PRIu64 " record%s of others, for which there is no room\n",
                a->gpus_left_out, gpurt_plural(a->gpus_left_out, "s"));
}

void activity_plain(FILE *out, const gpurt_model_activity_t *a, uint32_t most)
{
    activity_sum_t sum = activity_sum(a);
    char total[24], names[40];

    if (a->rows == 0)
        return;
    if (sum.count)
        fprintf(out,
                "kernels    %" PRIu64 " of %s, %s%s on GPUs, %" PRIu64 " without times\n",
                sum.count, times_names(sum.names, sum.others, names), sum.about ? "~" : "",
                activity_time(sum.ns, total), sum.untimed);
    if (a->graphs.count)
        fprintf(out,
                "graphs     launches: %" PRIu64 ", %s on GPUs; their kernels are "
                "not told apart (GPURT_CUPTI=default,nodes)\n",
                a->graphs.count, activity_time(a->graphs.ns, total));
    if (a->launches)
        fprintf(out, "launches   %" PRIu64 " recorded before they were made\n",
                a->launches);
    windows_plain(out, a);
    host_plain_sums(out, a);
    plain_copies(out, a);
    memory_plain(out, a);
    plain_gpus(out, a);
    running_plain(out, a, 0);
    collector_plain(out, a);
    plain_kernels(out, a, most);
    host_plain(out, a, most);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_copy(gpurt_json_t *j, const gpurt_model_copy_t *c)
{
    gpurt_json_number(j, "count", c->count);
    gpurt_json_number(j, "bytes", c->bytes);
    gpurt_json_number(j, "ns", c->ns);
    gpurt_json_number(j, "timed_bytes", c->timed_bytes);
    gpurt_json_object_end(j);
}

/* null: the host's memory is not known, or has no part in it. */
static void json_copies(gpurt_json_t *j, const gpurt_model_activity_t *a)
{
    gpurt_json_array(j, "copies");
    for (uint32_t i = 0; i < GPURT_COPY_KINDS * GPURT_MEMORY_KINDS; i++) {
        const char *memory = activity_memory(i % GPURT_MEMORY_KINDS);

        if (activity_copies(a, i)->count == 0)
            continue;
        gpurt_json_object(j, NULL);
        gpurt_json_text(j, "kind", activity_direction(i / GPURT_MEMORY_KINDS));
        gpurt_json_text_known(j, "memory", *memory ? memory : NULL);
        json_copy(j, activity_copies(a, i));
    }
    gpurt_json_array_end(j);
    gpurt_json_array(j, "managed");
    for (uint32_t i = 0; i < GPURT_MANAGED_KINDS; i++)
        if (a->managed[i].count) {
            gpurt_json_object(j, NULL);
            gpurt_json_text(j, "kind", activity_managed(i));
            json_copy(j, &a->managed[i]);
        }
    gpurt_json_array_end(j);
    gpurt_json_object(j, "fills");
    gpurt_json_text(j, "kind", "fill");
    json_copy(j, &a->fills);
}

/* null: of several graphs; and where no launch was looked into. */
static void json_graph(gpurt_json_t *j, const gpurt_model_kernel_t *k, bool other,
                       uint64_t whole)
{
    gpurt_json_object(j, NULL);
    gpurt_json_known(j, "graph", !other, k->graph);
    gpurt_json_known(j, "nodes", k->nodes != 0, k->nodes);
    times_json(j, &k->times, whole);
    if (k->pid)
        gpurt_json_number(j, "pid", k->pid);
    gpurt_json_object_end(j);
}

/* null: not known. */
static void json_percent(gpurt_json_t *j, const char *key, bool known, double percent)
{
    if (known)
        gpurt_json_decimal(j, key, percent, 2);
    else
        gpurt_json_null(j, key);
}

static void json_kernel(gpurt_json_t *j, const gpurt_model_kernel_t *k, uint64_t whole,
                        uint64_t samples)
{
    gpurt_json_object(j, NULL);
    gpurt_json_field(j, "name", k->name);
    times_json(j, &k->times, whole);
    gpurt_json_known(j, "estimated_total_ns", k->times.about_ns != 0, k->times.about_ns);
    gpurt_json_known(j, "estimated_error_ns", k->times.about_ns != 0,
                     k->times.about_error_ns);
    json_percent(j, "sampled_percent", samples != 0, times_percent(k->samples, samples));
    gpurt_json_known(j, "registers", k->registers != 0, k->registers);
    gpurt_json_known(j, "shared_bytes", k->registers != 0, k->shared_bytes);
    json_percent(j, "occupancy_percent", k->occupancy != 0, (double)k->occupancy / 100);
    gpurt_json_triple(j, "grid", k->grid[0], k->grid[1], k->grid[2]);
    gpurt_json_triple(j, "block", k->block[0], k->block[1], k->block[2]);
    gpurt_json_object_end(j);
}

/* Means over all samples. */
static void json_samples(gpurt_json_t *j, const gpurt_model_gpu_t *g)
{
    static const char *const keys[GPURT_SAMPLE_MEASURES] = {
        "sm_active_percent", "issued_percent", "memory_percent", "tensor_percent",
        "warps_percent"};

    gpurt_json_object(j, "samples");
    gpurt_json_number(j, "count", g->samples);
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES; i++)
        json_percent(j, keys[i], g->measures[i].count != 0, activity_mean(&g->measures[i]));
    gpurt_json_object_end(j);
}

/* As nvidia-smi writes it, behind what kind of device it is. */
static void json_uuid(gpurt_json_t *j, const uint8_t u[16])
{
    static const uint8_t none[16];

    if (memcmp(u, none, sizeof none) == 0)
        return;
    gpurt_json_printf(j, "uuid",
                      "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
                      "%02x%02x%02x%02x%02x%02x",
                      u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10],
                      u[11], u[12], u[13], u[14], u[15]);
}

static void json_environment(gpurt_json_t *j, const gpurt_model_gpu_t *g)
{
    const gpurt_activity_environment_t *e = &g->environment;

    gpurt_json_object(j, "environment");
    gpurt_json_number(j, "ts_ns", g->environment_ns);
    gpurt_json_number(j, "gpu_percent", e->gpu_percent);
    gpurt_json_number(j, "memory_percent", e->memory_percent);
    gpurt_json_number(j, "memory_used", gpurt_pair_value(e->memory_used));
    gpurt_json_number(j, "memory_total", gpurt_pair_value(e->memory_total));
    gpurt_json_number(j, "milliwatts", e->milliwatts);
    gpurt_json_number(j, "milliwatts_limit", e->milliwatts_limit);
    gpurt_json_number(j, "celsius", e->celsius);
    gpurt_json_number(j, "sm_mhz", e->sm_mhz);
    gpurt_json_number(j, "memory_mhz", e->memory_mhz);
    gpurt_json_object_end(j);
}

static void json_gpu(gpurt_json_t *j, uint32_t device, const gpurt_model_gpu_t *g)
{
    gpurt_json_object(j, NULL);
    gpurt_json_number(j, "device", device);
    gpurt_json_number(j, "ns", g->busy.ns);
    gpurt_json_number(j, "kernels_ns", g->busy.kernels);
    gpurt_json_number(j, "copying_ns", g->busy.copying);
    gpurt_json_number(j, "waiting_ns", g->busy.waiting);
    gpurt_json_number(j, "launching_ns", g->busy.launching);
    gpurt_json_number(j, "idle_ns", g->busy.idle);
    if (g->environment_ns)
        json_environment(j, g);
    if (g->samples)
        json_samples(j, g);
    json_uuid(j, g->uuid);
    if (g->name[0])
        gpurt_json_field(j, "name", g->name);
    if (g->other_names) {
        gpurt_json_object(j, "called");
        gpurt_json_number(j, "device", g->other_number);
        gpurt_json_number(j, "pid", g->other_pid);
        gpurt_json_number(j, "more", g->other_names - 1);
        gpurt_json_object_end(j);
    }
    gpurt_json_object_end(j);
}

static void json_gpus(gpurt_json_t *j, const gpurt_model_activity_t *a)
{
    gpurt_json_array(j, "gpus");
    for (uint32_t i = 0; i < GPURT_MODEL_DEVICES; i++)
        if (a->gpus[i].busy.ns || a->gpus[i].environment_ns || a->gpus[i].samples)
            json_gpu(j, i, &a->gpus[i]);
    gpurt_json_array_end(j);
    gpurt_json_number(j, "gpus_left_out", a->gpus_left_out);
}

static void json_sums(gpurt_json_t *j, const gpurt_model_activity_t *a)
{
    activity_sum_t sum = activity_sum(a);

    gpurt_json_number(j, "kernels", sum.count);
    gpurt_json_number(j, "kernel_ns", sum.ns);
    gpurt_json_number(j, "untimed", sum.untimed);
    gpurt_json_number(j, "waits", a->waits.count);
    gpurt_json_number(j, "wait_ns", a->waits.ns);
    gpurt_json_number(j, "graphs", a->graphs.count);
    gpurt_json_number(j, "graph_ns", a->graphs.ns);
    gpurt_json_number(j, "calls", a->calls.count);
    gpurt_json_number(j, "ranges", a->ranges);
    gpurt_json_number(j, "memory", a->memory);
    gpurt_json_number(j, "pools", a->pools);
    gpurt_json_number(j, "launches", a->launches);
    gpurt_json_number(j, "overhead_ns", a->overheads.ns);
    windows_json(j, a);
}

/* The rows of a kind, most time first. */
static void json_list(gpurt_json_t *j, const char *key, const gpurt_model_activity_t *a,
                      uint32_t kind)
{
    uint16_t order[GPUROWS_MOST];
    uint32_t count = gpurows_order(a, GPUROWS_KERNELS, 0, order);
    uint64_t whole = gpurows_whole_ns(a, GPUROWS_KERNELS);

    gpurt_json_array(j, key);
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_model_kernel_t *k = &a->kernels[order[i]];

        if (k->kind != kind)
            continue;
        if (kind == GPURT_KIND_GRAPH)
            json_graph(j, k, order[i] == GPURT_MODEL_OTHER_GRAPHS, whole);
        else
            json_kernel(j, k, whole, a->warp_samples);
    }
    gpurt_json_array_end(j);
}

void activity_json(gpurt_json_t *j, const char *key, const gpurt_model_activity_t *a)
{
    gpurt_json_object(j, key);
    json_sums(j, a);
    collector_json(j, a);
    json_copies(j, a);
    json_gpus(j, a);
    running_json(j, "running", a);
    json_list(j, "kernel_list", a, GPURT_KIND_KERNEL);
    json_list(j, "graph_list", a, GPURT_KIND_GRAPH);
    host_json(j, a);
    memory_json(j, a);
    gpurt_json_object_end(j);
}
