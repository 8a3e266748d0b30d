/* What a chip does before main: a vector table with the first stack and the first instruction, and the floating-point unit switched on. */
#include <stdint.h>

void _start(void);

static void begin(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR: full access to the floating-point unit */
    __asm volatile("dsb\n isb");
    _start();
}

__attribute__((section(".vectors"), used)) static const void *const vectors[2] = {(void *)0x20400000, (void *)begin};
