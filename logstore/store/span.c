/* SPDX-License-Identifier: Apache-2.0 */
#include "span.h"

#include "plural.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void of_kernel(const gpurt_activity_kernel_t *k, gpurt_span_t *s)
{
    s->kind = GPURT_KIND_KERNEL;
    s->ns = gpurt_pair_value(k->ns);
    s->name = k->name;
    s->context = k->context;
    s->stream = k->stream;
    s->correlation = k->correlation;
    s->kernel = k;
}

static void of_node(const gpurt_activity_node_t *n, gpurt_span_t *s)
{
    of_kernel(&n->kernel, s);
    s->graph = n->graph;
    s->node = gpurt_pair_value(n->node);
}

static void of_copy(const gpurt_activity_copy_t *c, gpurt_span_t *s)
{
    s->ns = gpurt_pair_value(c->ns);
    s->name = c->name;
    s->bytes = gpurt_pair_value(c->bytes);
    s->context = c->context;
    s->stream = c->stream;
    s->correlation = c->correlation;
}

static void of_fill(const gpurt_activity_fill_t *f, gpurt_span_t *s)
{
    s->ns = gpurt_pair_value(f->ns);
    s->bytes = gpurt_pair_value(f->bytes);
    s->context = f->context;
    s->stream = f->stream;
    s->correlation = f->correlation;
}

static void of_graph(const gpurt_activity_graph_t *g, gpurt_span_t *s)
{
    s->ns = gpurt_pair_value(g->ns);
    s->graph = g->graph;
    s->nodes = g->nodes;
    s->context = g->context;
    s->stream = g->stream;
    s->correlation = g->correlation;
}

static void of_wait(const gpurt_activity_wait_t *w, gpurt_span_t *s)
{
    s->ns = gpurt_pair_value(w->ns);
    s->name = w->name;
    s->context = w->context;
    s->stream = w->stream;
    s->correlation = w->correlation;
}

static void of_call(const gpurt_activity_call_t *c, gpurt_span_t *s)
{
    s->ns = gpurt_pair_value(c->ns);
    s->name = c->name;
    s->thread = c->thread;
    s->correlation = c->correlation;
}

static void of_overhead(const gpurt_activity_overhead_t *o, gpurt_span_t *s)
{
    s->ns = gpurt_pair_value(o->ns);
    s->name = o->name;
}

static void of_managed(const gpurt_activity_managed_t *m, gpurt_span_t *s)
{
    s->ns = gpurt_pair_value(m->ns);
    s->name = m->name;
    s->bytes = gpurt_pair_value(m->bytes);
}

bool gpurt_span_read(const gpurt_row_t *row, gpurt_activity_any_t *room, gpurt_span_t *out)
{
    const void *words =
        gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, room);

    return words && gpurt_span_of(row, words, out);
}

bool gpurt_span_of(const gpurt_row_t *row, const void *words, gpurt_span_t *out)
{
    memset(out, 0, sizeof *out);
    out->kind = row->kind;
    out->time_ns = row->time_ns;
    out->device = row->block;
    out->program = row->program;
    switch (row->kind) {
    case GPURT_KIND_KERNEL:
        of_kernel(words, out);
        return true;
    case GPURT_KIND_NODE:
    case GPURT_KIND_DEVICE_NODE:
        of_node(words, out);
        out->by_device = row->kind == GPURT_KIND_DEVICE_NODE;
        return true;
    case GPURT_KIND_COPY:
        of_copy(words, out);
        return true;
    case GPURT_KIND_FILL:
        of_fill(words, out);
        return true;
    case GPURT_KIND_GRAPH:
        of_graph(words, out);
        return true;
    case GPURT_KIND_DEVICE_GRAPH:
        of_graph(&((const gpurt_activity_device_graph_t *)words)->graph, out);
        out->kind = GPURT_KIND_GRAPH;
        out->by_device = true;
        return true;
    case GPURT_KIND_WAIT:
        of_wait(words, out);
        return true;
    case GPURT_KIND_CALL:
        of_call(words, out);
        return true;
    case GPURT_KIND_MANAGED:
        of_managed(words, out);
        return true;
    case GPURT_KIND_OVERHEAD:
        of_overhead(words, out);
        return true;
    default:
        return false;
    }
}

void gpurt_span_graph_name(char name[GPURT_SPAN_GRAPH_NAME], uint32_t graph, uint32_t nodes)
{
    if (nodes)
        snprintf(name, GPURT_SPAN_GRAPH_NAME, "graph %" PRIu32 " (%" PRIu32 " node%s)",
                 graph, nodes, gpurt_plural(nodes, "s"));
    else
        snprintf(name, GPURT_SPAN_GRAPH_NAME, "graph %" PRIu32, graph);
}
