#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# channel_types.sh LIBRARY COMPILER...: a channel's messages have its type. Each compiler (C, C++ and nvcc) takes the right
# one, refuses any other in a sentence, and refuses capacities that cannot be. What gcc made of it also runs.
set -euo pipefail
library=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=tests/scratch.sh
. "$root/tests/scratch.sh"

cat >right.c <<'END'
#include <gpurt/broadcast.h>
#include <gpurt/channel.h>
#include <gpurt/device.h>
#include <gpurt/hostchannel.h>
#include <gpurt/peerchannel.h>
#include <gpurt/unbounded.h>
#ifndef CAPACITY
#define CAPACITY 64
#endif
struct order {
    uint32_t item, pieces;
};
struct alike {
    uint32_t item, pieces;
};
GPURT_CHANNEL(orders, struct order, CAPACITY);
GPURT_BROADCAST(news, struct order, CAPACITY);
GPURT_BROADCAST(words, uint32_t, 8);
GPURT_UNBOUNDED(backlog, struct order);
GPURT_TO_DEVICE(asks, struct order, CAPACITY);
GPURT_TO_HOST(told, struct order, CAPACITY);
GPURT_PEERS(sent, struct order, CAPACITY);
struct args {
    orders_t orders;
    backlog_t backlog;
    news_t news;
    asks_t asks;
    told_t told;
    sent_out_t out;
    sent_in_t in;
    uint32_t *sum;
};

GPURT_KERNEL(k, struct args, p)
{
    struct order one = {1, 2}, got;
    const struct order many[2] = {{3, 4}, {5, 6}};
    struct alike other = {7, 8};
    uint32_t done = 0, word = 0;
    words_reader_t wrong;
    news_reader_t r;

    (void)wrong;
    (void)other;
    (void)word;
    if (gpurt_global_id() > 0)
        return;
#ifdef WRONG
    WRONG;
#endif
    (void)gpurt_send(&p->orders, &one);
    (void)gpurt_send_for(&p->orders, many, 1000);
    (void)gpurt_try_send(&p->orders, &many[1]);
    (void)gpurt_send_many(&p->orders, many, 2, &done);
    if (gpurt_grant(&p->orders, 1, &done) != GPURT_E_INVALID || gpurt_resize(&p->orders, 8) != GPURT_OK)
        *p->sum += 100000;
    (void)gpurt_channel_close(&p->orders.channel);
    if (gpurt_receive_for(&p->orders, &got, 1000) == GPURT_OK)
        *p->sum += got.item;
    if (gpurt_try_receive(&p->orders, &got) == GPURT_OK)
        *p->sum += got.item;
    if (gpurt_receive_many(&p->orders, &got, 1, &done) == GPURT_OK)
        *p->sum += got.item;
    while (gpurt_receive(&p->orders, &got) == GPURT_OK)
        *p->sum += got.item;
    (void)gpurt_reader_join(&p->news, &r);
    (void)gpurt_publish(&p->news, &one);
    (void)gpurt_publish_for(&p->news, many, 1000);
    (void)gpurt_try_publish(&p->news, &many[1]);
    if (gpurt_reader_read(&r, &got) == GPURT_OK && gpurt_reader_read_for(&r, &got, 1000) == GPURT_OK &&
        gpurt_reader_try_read(&r, &got) == GPURT_OK && gpurt_reader_lag(&r) + gpurt_reader_lost(&r) == 0)
        *p->sum += 100 * got.pieces;
    (void)gpurt_reader_leave(&r);
    (void)gpurt_post(&p->backlog, &one);
    (void)gpurt_post_for(&p->backlog, many, 1000);
    (void)gpurt_try_post(&p->backlog, &many[1]);
    if (gpurt_fetch(&p->backlog, &got) == GPURT_OK && gpurt_fetch_for(&p->backlog, &got, 1000) == GPURT_OK &&
        gpurt_try_fetch(&p->backlog, &got) == GPURT_OK)
        *p->sum += 1000 * got.pieces;
    if (gpurt_host_receive(&p->asks, &got) == GPURT_OK && gpurt_host_send(&p->told, &got) == GPURT_OK)
        (void)gpurt_host_close(&p->told);
    if (gpurt_peer_send(&p->out, &got) == GPURT_OK && gpurt_peer_close(&p->out) == GPURT_OK &&
        gpurt_peer_receive(&p->in, &one) == GPURT_OK && gpurt_peer_try_receive(&p->in, &one) != GPURT_E_EMPTY)
        *p->sum += 10000 * one.pieces;
}

#if !GPURT_ON_CUDA
#include <gpurt/broadcasts.h>
#include <gpurt/channels.h>
#include <gpurt/gpurt.h>
#include <gpurt/hostchannels.h>
#include <gpurt/peerchannels.h>
#include <gpurt/unboundeds.h>
#include <stdio.h>

int main(void)
{
    gpurt_launch_t launch = {{1, 1, 1}, {32, 1, 1}, {0, 0, 0}, 0, false, 0};
    const gpurt_channel_options_t resized = {.flags = GPURT_CHANNEL_RESIZED};
    gpurt_channel_status_t status;
    struct order order = {9, 10};
    gpurt_error_t err;
    struct args args;
    gpurt_heap_t heap;
    uint32_t sum = 0;
    gpurt_t *rt;

    args.sum = &sum;
    if (gpurt_open(NULL, &rt, &err) || gpurt_make_channel(rt, &args.orders, &resized, &err) ||
        gpurt_make_broadcast(rt, &args.news, NULL, &err) || gpurt_heap_create(rt, NULL, &heap, &err) ||
        gpurt_make_unbounded(rt, &args.backlog, &heap, NULL, &err) ||
        gpurt_make_hostchannel(rt, &args.asks, NULL, &err) || gpurt_make_hostchannel(rt, &args.told, NULL, &err) ||
        gpurt_make_peerchannel(rt, &args.out, rt, &args.in, NULL, &err) ||
        gpurt_device_send(rt, &args.asks, &order, 0, NULL, &err) ||
        gpurt_launch(rt, &launch, k, &args, &err) || gpurt_sync(rt, &err) ||
        gpurt_device_receive(rt, &args.told, &order, 0, &err) || order.pieces != 10 ||
        gpurt_channel_status(rt, &args.orders.channel, &status, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%u, %s, %u slots of %u bytes\n", sum, status.name, status.capacity, status.bytes);
    if (gpurt_channel_destroy(rt, &args.orders.channel, &err) ||
        gpurt_broadcast_destroy(rt, &args.news.broadcast, &err) ||
        gpurt_hostchannel_destroy(rt, &args.asks.channel, &err) ||
        gpurt_peerchannel_destroy(rt, &args.out.channel, rt, &args.in.channel, &err) ||
        gpurt_unbounded_destroy(rt, &args.backlog.unbounded, &err) || gpurt_close(rt, &err))
        return 1;
    return 0;
}
#endif
END
cp right.c right.cc
cp right.c right.cu

compile() { # ARGUMENT...
    case $compiler in
    *nvcc) "$compiler" -std=c++17 -arch=sm_90 -ptx -I"$root/runtime/include" -o "$dir/out" right.cu "$@" ;;
    *++*) "$compiler" -std=c++17 -I"$root/runtime/include" -c -o out right.cc "$@" ;;
    *) "$compiler" -std=gnu11 -I"$root/runtime/include" -c -o out right.c "$@" ;;
    esac
}

refused() { # TEXT MACRO VALUE: in a file, for nvcc parts options at commas
    echo "#define $2 $3" >wrong.h
    ! compile -include wrong.h >said 2>&1 || fail "$compiler: $3: it compiles"
    grep -q "error.*$1" said || fail "$compiler: $3: no '$1': $(head -c 2000 said)"
}

for compiler in "${@:2}"; do
    [[ $compiler ]] || continue
    compile >said 2>&1 || fail "$compiler: $(head -c 2000 said)"
    type='messages have another type'
    refused "$type" WRONG '(void)gpurt_send(&p->orders, &word)'
    refused "$type" WRONG '(void)gpurt_publish(&p->news, &word)'
    refused "$type" WRONG '(void)gpurt_post(&p->backlog, &word)'
    refused "$type" WRONG '(void)gpurt_host_send(&p->told, &word)'
    refused "$type" WRONG '(void)gpurt_peer_send(&p->out, &word)'
    [[ $compiler != *nvcc ]] || continue # which takes seconds
    refused "$type" WRONG '(void)gpurt_try_send(&p->orders, &other)'
    refused "$type" WRONG '(void)gpurt_receive(&p->orders, &word)'
    refused "$type" WRONG '(void)gpurt_receive_many(&p->orders, &other, 1, &done)'
    refused "$type" WRONG '(void)gpurt_reader_read(&r, &other)'
    refused 'other end of the channel' WRONG '(void)gpurt_host_receive(&p->told, &got)'
    refused 'other end of the channel' WRONG '(void)gpurt_peer_receive(&p->out, &got)'
    refused "$type" WRONG '(void)gpurt_reader_join(&p->news, &wrong)'
    refused 'capacity is a power of two' CAPACITY 12
    refused 'capacity is a power of two' CAPACITY 0
    case $compiler in *++*) language=c++ ;; *) language=c ;; esac
    "$compiler" -x "$language" -I"$root/runtime/include" right.c -x none "$library" -lpthread -ldl -lm -o run
    GPURT_BACKEND=cpu ./run >said 2>&1 || fail "$compiler: ends with $?: $(<said)"
    grep -qxF '106617, orders, 64 slots of 8 bytes' said || fail "$compiler: $(<said)"
done
