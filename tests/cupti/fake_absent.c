/* SPDX-License-Identifier: Apache-2.0 */
/* A library without anything in it, and one that needs the first and does not find it. */
void fake_absent(void);

void fake_absent(void) {}
