/* Numbers as text: one notation to write, one grammar to read. Python: footfall/machines/control/decimal_text.py. */
#ifndef FF_DECIMAL_TEXT_H
#define FF_DECIMAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define FF_LARGEST 1e9f   /* sizes from here on are not written */
#define FF_LONGEST_FIXED 18 /* sign, 10 digits, point, 6 decimals */

/* Writes a finite number of size less than FF_LARGEST in fixed notation with 0 < decimals <= 6, rounded as its exact value demands,
 * ties to even; zero has no sign. Returns the number of characters; there is no terminating 0. */
size_t ff_fixed(float value, unsigned decimals, char *text);

/* Reads [+-] (digits [. [digits]] | . digits) [eE [+-] digits], which must be all of the text, as the nearest double. False if it is
 * anything else, or too large for a double. */
bool ff_number(const char *text, double *value);

#endif
