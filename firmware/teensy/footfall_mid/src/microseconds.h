/* Time as the chip counts it: 32 bits of microseconds, which wrap every 71 minutes. Python: footfall/machines/control/microseconds.py. */
#ifndef FF_MICROSECONDS_H
#define FF_MICROSECONDS_H

#include <stdbool.h>
#include <stdint.h>

/* now is at least `wait` after `before`; right across the wrap for times less than 35 minutes apart. */
static inline bool ff_at_least(uint32_t now, uint32_t before, uint32_t wait)
{
    uint32_t elapsed = now - before;
    return elapsed >= wait && elapsed < UINT32_C(0x80000000);
}

#endif
