// Lanes: LANES copies of one program run side by side, one in each element of a vector register.
//
// The generated source above has defined `Real` (float or double), `Bits` (the integer as wide as Real) and LANES.
// Only the vector extensions that gcc and clang share are used, and no header of a system: it may have none. Integers and truth values of a lane live in vectors as
// wide as the numbers', so that every operation works element by element; a truth value is 0 or -1 (all bits set).

#include <stdint.h>

namespace lanes {

typedef Real V __attribute__((vector_size(LANES * sizeof(Real))));           // a number per lane
typedef Bits VI __attribute__((vector_size(LANES * sizeof(Real))));          // an integer or a truth value per lane
typedef VI VL;                                                               // where it is a 64-bit integer
typedef int32_t Narrow __attribute__((vector_size(LANES * sizeof(int32_t))));  // the half-wide step of a conversion

#define EACH_LANE for (int i = 0; i < LANES; i++)
// What is called in several places stands in the code once.
#define FUNCTION static __attribute__((noinline)) void

// ---- the same value in every lane. Minus zero, not plus: 0 + -0 would lose the sign.
static inline V all(Real x) { return x - V{}; }
static inline VI all(bool x) { return VI{} - (Bits)x; }
static inline VI all(int32_t x) { return VI{} + (Bits)x; }
static inline VI all(int64_t x) { return VI{} + (Bits)x; }

static inline V pick(VI which, V yes, V no) { return which ? yes : no; }
static inline VI pick(VI which, VI yes, VI no) { return which ? yes : no; }

// ---- integers: int32 stays int32 inside a 64-bit lane
static inline VI wrap(VI x) { return sizeof(Bits) == 8 ? (x << (sizeof(Bits) * 4)) >> (sizeof(Bits) * 4) : x; }

// What XLA does with what C++ leaves undefined: x / 0 = -1, x % 0 = x, and shifts past the end.
template <class T> static inline T quotient(T a, T b) { return b == 0 ? -1 : b == -1 ? (T)-a : a / b; }
template <class T> static inline T remainder(T a, T b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
template <class T> static inline bool within(T by) { return by >= 0 && by < (T)(8 * sizeof(T)); }
template <class T> static inline T shift_left(T a, T by) { return within(by) ? a << by : 0; }
template <class T> static inline T shift_right(T a, T by) { return within(by) ? a >> by : a >> (8 * sizeof(T) - 1); }
static inline int32_t shift_bits(int32_t a, int32_t by) { return within(by) ? (int32_t)((uint32_t)a >> by) : 0; }
static inline int64_t shift_bits(int64_t a, int64_t by) { return within(by) ? (int64_t)((uint64_t)a >> by) : 0; }

#define INTEGERS(name)                                                                                                   \
    template <class T> static inline VI name(VI a, VI b)                                                                 \
    {                                                                                                                    \
        VI y;                                                                                                            \
        EACH_LANE y[i] = name((T)a[i], (T)b[i]);                                                                         \
        return y;                                                                                                        \
    }
INTEGERS(quotient) INTEGERS(remainder) INTEGERS(shift_left) INTEGERS(shift_right) INTEGERS(shift_bits)

// ---- numbers and integers alike. NaN propagates, as in JAX.
template <class T> static inline T max(T a, T b) { return ((a > b) | (a != a)) ? a : b; }
template <class T> static inline T min(T a, T b) { return ((a < b) | (a != a)) ? a : b; }
// Against a bound that is not NaN one comparison is enough; it fails for a NaN, which then stays.
template <class T> static inline T at_least(T x, T bound) { return x <= bound ? bound : x; }
template <class T> static inline T at_most(T x, T bound) { return x >= bound ? bound : x; }
template <class T> static inline T sign(T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x; }
static inline V sign(V x) { return x > 0 ? all((Real)1) : x < 0 ? all((Real)-1) : x; }
static inline VI sign(VI x) { return (x >> (8 * sizeof(Bits) - 1)) | (VI)((x > 0) & 1); }

// ---- numbers. Loops over one machine instruction (floor, sqrt) become one vector instruction; the others call libm.
#define NUMBERS(name)                                                                                                    \
    static inline float name(float x) { return __builtin_##name##f(x); }                                                 \
    static inline double name(double x) { return __builtin_##name(x); }                                                  \
    static inline V name(V x)                                                                                            \
    {                                                                                                                    \
        V y;                                                                                                             \
        EACH_LANE y[i] = name(x[i]);                                                                                     \
        return y;                                                                                                        \
    }
#define PAIRS(name)                                                                                                      \
    static inline float name(float a, float b) { return __builtin_##name##f(a, b); }                                     \
    static inline double name(double a, double b) { return __builtin_##name(a, b); }                                     \
    static inline V name(V a, V b)                                                                                       \
    {                                                                                                                    \
        V y;                                                                                                             \
        EACH_LANE y[i] = name(a[i], b[i]);                                                                               \
        return y;                                                                                                        \
    }
NUMBERS(floor) NUMBERS(ceil) NUMBERS(rint) NUMBERS(round) NUMBERS(sqrt) NUMBERS(cbrt)
NUMBERS(exp) NUMBERS(exp2) NUMBERS(expm1) NUMBERS(log) NUMBERS(log1p) NUMBERS(erf) NUMBERS(erfc)
NUMBERS(sin) NUMBERS(cos) NUMBERS(tan) NUMBERS(asin) NUMBERS(acos) NUMBERS(atan)
NUMBERS(sinh) NUMBERS(cosh) NUMBERS(tanh) NUMBERS(asinh) NUMBERS(acosh) NUMBERS(atanh)
PAIRS(atan2) PAIRS(pow) PAIRS(fmod) PAIRS(nextafter)

static inline int32_t abs(int32_t x) { return x < 0 ? -x : x; }
static inline int64_t abs(int64_t x) { return x < 0 ? -x : x; }
static inline VI abs(VI x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return __builtin_fabsf(x); }
static inline double abs(double x) { return __builtin_fabs(x); }
static inline V abs(V x) { return (V)((VI)x & ~((Bits)1 << (8 * sizeof(Bits) - 1))); }  // bits: -0 becomes 0
template <class T> static inline T logistic(T x) { return 1 / (1 + exp(-x)); }

// ---- conversions. A number becomes the nearest integer towards zero that fits; NaN becomes 0.
template <class To, class From> static inline To whole(From x)
{
    const From end = (From)((uint64_t)1 << (8 * sizeof(To) - 1));  // one past the largest, exact in either precision
    const To low = (To)((uint64_t)1 << (8 * sizeof(To) - 1));
    return x != x ? 0 : x >= end ? ~low : x < -end ? low : (To)x;
}
static inline VI to_int64(V x)
{
    VI y;
    EACH_LANE y[i] = whole<int64_t>((Real)x[i]);
    return y;
}
static inline VI to_int32(V x)
{
    const Real end = (Real)2147483648.0;
#if defined(__AVX512DQ__) || !defined(__x86_64__)
    VI y = __builtin_convertvector(x, VI);
#else
    const V low = all(-end);
    VI y = __builtin_convertvector(__builtin_convertvector(x > low ? x : low, Narrow), VI);  // no 64-bit conversion here
#endif
    y = x == x ? y : VI{};
    if (sizeof(Bits) == 8) y = max(y, all(INT32_MIN));
    return x >= end ? all(INT32_MAX) : y;
}
static inline V from_int64(VI x) { return __builtin_convertvector(x, V); }
static inline V from_int32(VI x)
{
#if defined(__AVX512DQ__) || !defined(__x86_64__)
    return __builtin_convertvector(x, V);
#else
    return __builtin_convertvector(__builtin_convertvector(x, Narrow), V);
#endif
}
template <class To, class From> static inline To same_bits(From x)
{
    To y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}

// ---- from all lanes of a block to one value
#define ACROSS(name, vector, scalar, combine)                                                                            \
    static inline scalar name(vector x)                                                                                  \
    {                                                                                                                    \
        scalar y = x[0];                                                                                                 \
        for (int i = 1; i < LANES; i++) y = combine;                                                                     \
        return y;                                                                                                        \
    }
ACROSS(largest, V, Real, max(y, (Real)x[i]))
ACROSS(largest, VI, Bits, max(y, (Bits)x[i]))
ACROSS(smallest, V, Real, min(y, (Real)x[i]))
ACROSS(smallest, VI, Bits, min(y, (Bits)x[i]))
ACROSS(sum, V, Real, y + x[i])
ACROSS(sum, VI, Bits, y + x[i])
ACROSS(product, V, Real, y * x[i])
ACROSS(product, VI, Bits, y * x[i])
ACROSS(any, VI, Bits, y | x[i])
ACROSS(every, VI, Bits, y & x[i])

// ---- memory. Past the last lane the last lane is repeated, and not stored.
#define LOAD(name, vector, expression)                                                                                   \
    template <class T> static inline vector name(const void *from, int64_t first, int64_t lanes)                         \
    {                                                                                                                    \
        vector y;                                                                                                        \
        const T *source = (const T *)from;                                                                               \
        EACH_LANE                                                                                                        \
        {                                                                                                                \
            const T x = source[first + i < lanes ? first + i : lanes - 1];                                               \
            y[i] = expression;                                                                                           \
        }                                                                                                                \
        return y;                                                                                                        \
    }
LOAD(load, V, x) LOAD(load_int, VI, x) LOAD(load_bool, VI, x ? -1 : 0)

template <class T> static inline void store(void *to, V x, int64_t first, int64_t lanes)
{
    EACH_LANE if (first + i < lanes) ((T *)to)[first + i] = x[i];
}
template <class T> static inline void store_int(void *to, VI x, int64_t first, int64_t lanes)
{
    EACH_LANE if (first + i < lanes) ((T *)to)[first + i] = (T)x[i];
}
template <class T> static inline void store_bool(void *to, VI x, int64_t first, int64_t lanes)
{
    EACH_LANE if (first + i < lanes) ((T *)to)[first + i] = x[i] != 0;
}

// ---- the program, one block of lanes: generated below
static void block(const void *const *in, void *const *out, int64_t first, int64_t lanes);

}  // namespace lanes
