/* SPDX-License-Identifier: Apache-2.0 */
#include "hostfile.h"

#include <gpurt/device.h>

GPURT_DEV bool is_prime(uint32_t n)
{
    for (uint32_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

GPURT_DEV char *put_number(char *at, uint32_t n, char behind)
{
    for (uint32_t i = 10; i-- > 0; n /= 10)
        at[i] = (char)('0' + n % 10);
    at[10] = behind;
    return at + 11;
}

GPURT_KERNEL(count_primes, struct hostfile, p)
{
    const uint32_t who = gpurt_global_id();
    struct range r;
    char line[33];
    while (gpurt_host_call(&p->calls, next_range, &who, &r) == GPURT_OK) {
        uint32_t primes = 0;

        for (uint32_t n = r.from; n < r.to; n++)
            primes += is_prime(n);
        put_number(put_number(put_number(line, r.from, ' '), r.to, ' '), primes, '\n');
        (void)gpurt_host_write(&p->calls, p->file, line, sizeof line);
    }
}
