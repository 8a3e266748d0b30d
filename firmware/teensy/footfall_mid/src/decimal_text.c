#include "exact_floats.h"
#include "decimal_text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

size_t ff_fixed(float value, unsigned decimals, char *text)
{
    /* 24 bits times 10^6 = 2^6 * 15625 is at most 38 bits wide: the product below is exact, so this rounds once, here. */
    double scaled = fabs((double)value);
    for (unsigned k = 0; k < decimals; k++)
        scaled *= 10.0;
    uint64_t whole = (uint64_t)scaled;
    double rest = scaled - (double)whole;
    if (rest > 0.5 || (rest == 0.5 && (whole & 1u)))
        whole++;

    char backwards[FF_LONGEST_FIXED];
    size_t count = 0;
    bool negative = value < 0.0f && whole != 0;
    for (unsigned digit = 0; digit <= decimals || whole != 0; digit++) {
        if (digit == decimals)
            backwards[count++] = '.';
        backwards[count++] = (char)('0' + whole % 10u);
        whole /= 10u;
    }
    if (negative)
        backwards[count++] = '-';
    for (size_t k = 0; k < count; k++)
        text[k] = backwards[count - 1 - k];
    return count;
}

static const char *skip_digits(const char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

static const char *skip_sign(const char *text)
{
    return *text == '+' || *text == '-' ? text + 1 : text;
}

static bool is_number(const char *text)
{
    const char *start = skip_sign(text);
    const char *at = skip_digits(start);
    bool digits = at > start;
    if (*at == '.') {
        const char *after = skip_digits(at + 1);
        digits = digits || after > at + 1;
        at = after;
    }
    if (!digits)
        return false;
    if (*at == 'e' || *at == 'E') {
        const char *power = skip_sign(at + 1);
        at = skip_digits(power);
        if (at == power)
            return false;
    }
    return *at == '\0';
}

bool ff_number(const char *text, double *value)
{
    if (!is_number(text)) /* strtod alone would also take nan, inf, 0x10 and leading blanks */
        return false;
    *value = strtod(text, NULL);
    return isfinite(*value);
}
