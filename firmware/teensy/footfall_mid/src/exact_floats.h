/* Single precision as written: every operation rounded once, none merged. Include it before any code that calculates.
 *
 * The law must give the same bits here and in Python. Two things would spoil that without a word: a compiler that keeps intermediate
 * results in a wider type, and one that merges a product and a sum into one operation (Cortex-M7 has it, GCC uses it by default, and
 * the Arduino IDE passes no flags of ours). */
#ifndef FF_EXACT_FLOATS_H
#define FF_EXACT_FLOATS_H

#include <float.h>

#if defined(__FAST_MATH__)
#error "footfall: -ffast-math changes results and drops nan checks; build without it"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 /* 16: only half precision is widened */
#error "footfall: this compiler widens single precision (x87?); on 32-bit x86 use -msse2 -mfpmath=sse"
#endif

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#endif
