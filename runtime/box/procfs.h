/* SPDX-License-Identifier: Apache-2.0 */
/* procfs.h - what the kernel says about a process, for identity and for noticing its
 * end. */
#ifndef GPURT_PROCFS_H
#define GPURT_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start time in clock ticks since boot; 0 when there is no such process, or all of its threads
 * have ended. */
uint64_t gpurt_process_start(uint32_t pid);

/* Whether it runs as that user alone, whatever it once was. */
bool gpurt_process_is_of(uint32_t pid, uint32_t user);

/* The file's name alone, of a program's path. One that the room cannot hold ends in three dots. */
void gpurt_program_name(char *to, size_t room, const char *path);

/* Whether the process with that number is the one that started then. */
bool gpurt_process_alive(uint32_t pid, uint64_t start_ticks);

/* Whether that process has a thread with that number, which has not ended. */
bool gpurt_thread_alive(uint32_t pid, uint32_t thread);

/* Whether another process has the open file in its memory, or is on its way out and may have had
 * it there: its memory goes before its descriptors, a GPU's among them, which may take seconds. Of
 * a process whose memory map may not be read, no. Takes a few milliseconds, more where there are
 * many processes. */
bool gpurt_file_held_elsewhere(int fd);

/* 16 bytes that change with each boot; zeros where the kernel does not tell. */
void gpurt_boot_id(uint8_t id[16]);

#endif
