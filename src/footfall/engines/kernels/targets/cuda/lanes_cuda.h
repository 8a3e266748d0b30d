// Lanes on a GPU: one lane per thread, and a block of lanes is a warp. Its threads decide together, so that they stay
// together: left alone, each at its own turn of the loop, they would take turns at every event and tick (measured: see
// docs/performance.md).
//
// The generated source above has defined `Real` (float or double) and REAL_BITS. NVRTC is told to take every function for a device's;
// without a GPU a C++ compiler reads the same text. A truth value is 0 or -1 in 32 bits, whatever the numbers': wider
// ones would cost registers (measured: 10 %). NVRTC knows functions named all and any, hence the namespace.

#ifdef __CUDACC_RTC__
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned char uint8_t;
#define INT64_C(x) x##LL
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000LL)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_nan(unused) __longlong_as_double(0x7ff8000000000000LL)
#define __builtin_nanf(unused) __int_as_float(0x7fc00000)
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#endif

namespace lanes {

template <class To, class From> static inline To same_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "bits are kept between types of one size");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}

struct V;
struct VL;
struct VI {  // a 32-bit integer or a truth value
    int32_t v;
    VI() = default;
    VI(int32_t x) : v(x) {}
    explicit VI(VL x);
    explicit VI(V bits);
};
struct VL {  // a 64-bit integer
    int64_t v;
    VL() = default;
    VL(int64_t x) : v(x) {}
    explicit VL(VI x) : v(x.v) {}
    explicit VL(V bits);
};
struct V {  // a number
    Real v;
    V() = default;
    V(Real x) : v(x) {}
#if REAL_BITS == 64
    explicit V(VL bits) : v(same_bits<Real>(bits.v)) {}
#else
    explicit V(VI bits) : v(same_bits<Real>(bits.v)) {}
#endif
};
inline VI::VI(VL x) : v((int32_t)x.v) {}
#if REAL_BITS == 64
inline VL::VL(V bits) : v(same_bits<int64_t>(bits.v)) {}
#else
inline VI::VI(V bits) : v(same_bits<int32_t>(bits.v)) {}
#endif

// Integers wrap, as in JAX: C++ says so of unsigned ones only.
#define NUMBER(op)                                                                                                       \
    static inline V operator op(V a, V b) { return V(a.v op b.v); }
#define INTEGER(op)                                                                                                      \
    static inline VI operator op(VI a, VI b) { return VI((int32_t)((uint32_t)a.v op(uint32_t) b.v)); }                   \
    static inline VL operator op(VL a, VL b) { return VL((int64_t)((uint64_t)a.v op(uint64_t) b.v)); }
#define COMPARED(op)                                                                                                     \
    static inline VI operator op(V a, V b) { return VI(-(int32_t)(a.v op b.v)); }                                        \
    static inline VI operator op(VI a, VI b) { return VI(-(int32_t)(a.v op b.v)); }                                      \
    static inline VI operator op(VL a, VL b) { return VI(-(int32_t)(a.v op b.v)); }
NUMBER(+) NUMBER(-) NUMBER(*)
INTEGER(+) INTEGER(-) INTEGER(*) INTEGER(&) INTEGER(|) INTEGER(^)
COMPARED(<) COMPARED(<=) COMPARED(>) COMPARED(>=) COMPARED(==) COMPARED(!=)
static inline float sqrt(float x) { return ::sqrtf(x); }
static inline double sqrt(double x) { return ::sqrt(x); }
#if defined(__CUDACC_RTC__) && REAL_BITS == 64
// Quotients and roots by Newton's method from the machine's first guess, with the last correction that rounds them. The
// library's have a branch for numbers near the ends of the range: it parts the threads of a warp, and before threads
// speak to each other they would have to be brought together again (measured: six times the instructions). What that
// branch is for (zero, infinity, NaN) leaves a NaN here, and is then what the guess says; a divisor or root below 1e-307
// counts as zero.
static inline double divided(double a, double b)
{
    double guess;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(b));
    double r = ::fma(guess, ::fma(-b, guess, 1.0), guess);
    r = ::fma(r, ::fma(-b, r, 1.0), r);
    const double q = a * r, exact = ::fma(r, ::fma(-b, q, a), q);
    return exact == exact ? exact : a * guess;
}
static inline double root(double x)
{
    double guess;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(x));
    double s = x * guess, h = 0.5 * guess;
    for (int i = 0; i < 2; i++) {
        const double left = ::fma(-s, h, 0.5);
        s = ::fma(s, left, s), h = ::fma(h, left, h);
    }
    s = ::fma(h, ::fma(-s, s, x), s);
    return s == s || !(x >= 0) ? s : x;
}
#else
static inline Real divided(Real a, Real b) { return a / b; }
static inline Real root(Real x) { return sqrt(x); }
#endif
static inline V operator/(V a, V b) { return V(divided(a.v, b.v)); }
static inline V sqrt(V x) { return V(root(x.v)); }
static inline V operator-(V a) { return V(-a.v); }
static inline VI operator-(VI a) { return VI(0) - a; }
static inline VL operator-(VL a) { return VL(0) - a; }
static inline VI operator~(VI a) { return VI(~a.v); }
static inline VL operator~(VL a) { return VL(~a.v); }
static inline VI operator<<(VI a, int by) { return VI((int32_t)((uint32_t)a.v << by)); }
static inline VL operator<<(VL a, int by) { return VL((int64_t)((uint64_t)a.v << by)); }
static inline VI operator>>(VI a, int by) { return VI(a.v >> by); }
static inline VL operator>>(VL a, int by) { return VL(a.v >> by); }

// ---- the same value in every lane
static inline V all(Real x) { return V(x); }
static inline VI all(bool x) { return VI(-(int32_t)x); }
static inline VI all(int32_t x) { return VI(x); }
static inline VL all(int64_t x) { return VL(x); }

static inline V pick(VI which, V yes, V no) { return which.v ? yes : no; }
static inline VI pick(VI which, VI yes, VI no) { return which.v ? yes : no; }
static inline VL pick(VI which, VL yes, VL no) { return which.v ? yes : no; }
static inline VI wrap(VI x) { return x; }

// ---- integers. What XLA does with what C++ leaves undefined: x / 0 = -1, x % 0 = x, and shifts past the end.
template <class T> static inline T quotient(T a, T b) { return b == 0 ? -1 : b == -1 ? (T)(0 - (uint64_t)a) : a / b; }
template <class T> static inline T remainder(T a, T b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
template <class T> static inline bool within(T by) { return by >= 0 && by < (T)(8 * sizeof(T)); }
template <class T> static inline T shift_left(T a, T by) { return within(by) ? (T)((uint64_t)a << by) : 0; }
template <class T> static inline T shift_right(T a, T by) { return within(by) ? a >> by : a >> (8 * sizeof(T) - 1); }
static inline int32_t shift_bits(int32_t a, int32_t by) { return within(by) ? (int32_t)((uint32_t)a >> by) : 0; }
static inline int64_t shift_bits(int64_t a, int64_t by) { return within(by) ? (int64_t)((uint64_t)a >> by) : 0; }
#define INTEGERS(name)                                                                                                   \
    template <class T> static inline VI name(VI a, VI b) { return VI(name((T)a.v, (T)b.v)); }                            \
    template <class T> static inline VL name(VL a, VL b) { return VL(name((T)a.v, (T)b.v)); }
INTEGERS(quotient) INTEGERS(remainder) INTEGERS(shift_left) INTEGERS(shift_right) INTEGERS(shift_bits)

// ---- numbers and integers alike. NaN propagates, as in JAX.
template <class T> static inline T max(T a, T b) { return ((a > b) | (a != a)) ? a : b; }
template <class T> static inline T min(T a, T b) { return ((a < b) | (a != a)) ? a : b; }
// Against a bound that is not NaN one comparison is enough; it fails for a NaN, which then stays.
template <class T> static inline T at_least(T x, T bound) { return x <= bound ? bound : x; }
template <class T> static inline T at_most(T x, T bound) { return x >= bound ? bound : x; }
template <class T> static inline T sign(T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x; }
#define OF_LANES(name)                                                                                                   \
    static inline V name(V a, V b) { return V(name(a.v, b.v)); }                                                         \
    static inline VI name(VI a, VI b) { return VI(name(a.v, b.v)); }                                                     \
    static inline VL name(VL a, VL b) { return VL(name(a.v, b.v)); }
OF_LANES(max) OF_LANES(min) OF_LANES(at_least) OF_LANES(at_most)
static inline V sign(V x) { return V(sign(x.v)); }
static inline VI sign(VI x) { return VI(sign(x.v)); }
static inline VL sign(VL x) { return VL(sign(x.v)); }

// ---- numbers
#define NUMBERS(name)                                                                                                    \
    static inline float name(float x) { return ::name##f(x); }                                                           \
    static inline double name(double x) { return ::name(x); }                                                            \
    static inline V name(V x) { return V(name(x.v)); }
#define PAIRS(name)                                                                                                      \
    static inline float name(float a, float b) { return ::name##f(a, b); }                                               \
    static inline double name(double a, double b) { return ::name(a, b); }                                               \
    static inline V name(V a, V b) { return V(name(a.v, b.v)); }
NUMBERS(floor) NUMBERS(ceil) NUMBERS(rint) NUMBERS(round) NUMBERS(cbrt)
NUMBERS(exp) NUMBERS(exp2) NUMBERS(expm1) NUMBERS(log) NUMBERS(log1p) NUMBERS(erf) NUMBERS(erfc)
NUMBERS(sin) NUMBERS(cos) NUMBERS(tan) NUMBERS(asin) NUMBERS(acos) NUMBERS(atan)
NUMBERS(sinh) NUMBERS(cosh) NUMBERS(tanh) NUMBERS(asinh) NUMBERS(acosh) NUMBERS(atanh)
PAIRS(atan2) PAIRS(pow) PAIRS(fmod) PAIRS(nextafter)

static inline int32_t abs(int32_t x) { return x < 0 ? (int32_t)(0u - (uint32_t)x) : x; }
static inline int64_t abs(int64_t x) { return x < 0 ? (int64_t)(0 - (uint64_t)x) : x; }
static inline float abs(float x) { return ::fabsf(x); }
static inline double abs(double x) { return ::fabs(x); }
static inline V abs(V x) { return V(abs(x.v)); }
static inline VI abs(VI x) { return VI(abs(x.v)); }
static inline VL abs(VL x) { return VL(abs(x.v)); }
template <class T> static inline T logistic(T x) { return 1 / (1 + exp(-x)); }

// ---- conversions. A number becomes the nearest integer towards zero that fits; NaN becomes 0.
template <class To, class From> static inline To whole(From x)
{
    const From end = (From)((uint64_t)1 << (8 * sizeof(To) - 1));  // one past the largest, exact in either precision
    const To low = (To)((uint64_t)1 << (8 * sizeof(To) - 1));
    return x != x ? 0 : x >= end ? ~low : x < -end ? low : (To)x;
}
#ifdef __CUDACC_RTC__  // the machine's own, which takes what does not fit to the end; a branch would part the threads
static inline int32_t nearest(float x) { return ::__float2int_rz(x); }
static inline int32_t nearest(double x) { return x == x ? ::__double2int_rz(x) : 0; }
#else
template <class T> static inline int32_t nearest(T x) { return whole<int32_t>(x); }
#endif
static inline VI to_int32(V x) { return VI(nearest(x.v)); }
static inline VL to_int64(V x) { return VL(whole<int64_t>(x.v)); }
static inline V from_int32(VI x) { return V((Real)x.v); }
static inline V from_int64(VL x) { return V((Real)x.v); }

// ---- from all lanes of a block to one value. Without a GPU threads run one after the other, and a block is one lane.
#ifdef __CUDACC_RTC__
#define WARP 0xffffffffu
template <class T, class Pair> static inline T across(T x, Pair pair)
{
    for (int apart = 16; apart; apart >>= 1) x = pair(x, ::__shfl_xor_sync(WARP, x, apart));
    return x;
}
static inline bool any(VI x) { return ::__any_sync(WARP, x.v); }
static inline bool every(VI x) { return ::__all_sync(WARP, x.v); }
// What a thread of the same group of `width` neighbours has.
template <class T> static inline T shuffled(T x, int thread, int width) { return ::__shfl_sync(WARP, x, thread, width); }
#else
template <class T, class Pair> static inline T across(T x, Pair) { return x; }
static inline bool any(VI x) { return x.v; }
static inline bool every(VI x) { return x.v; }
#endif
#define ACROSS(name, a_with_b)                                                                                           \
    static inline Real name(V x) { return across(x.v, [](Real a, Real b) { return a_with_b; }); }                        \
    static inline int32_t name(VI x) { return across(x.v, [](int32_t a, int32_t b) { return a_with_b; }); }              \
    static inline int64_t name(VL x) { return across(x.v, [](int64_t a, int64_t b) { return a_with_b; }); }
ACROSS(largest, max(a, b)) ACROSS(smallest, min(a, b)) ACROSS(sum, a + b) ACROSS(product, a * b)

// ---- memory
template <class T> static inline V load(const void *from, int64_t lane, int64_t) { return V(((const T *)from)[lane]); }
template <class T> static inline VI load_int(const void *from, int64_t lane, int64_t) { return VI(((const T *)from)[lane]); }
template <class T> static inline VI load_bool(const void *from, int64_t lane, int64_t)
{
    return VI(((const T *)from)[lane] ? -1 : 0);
}
template <class T> static inline void store(void *to, V x, int64_t lane, int64_t) { ((T *)to)[lane] = x.v; }
template <class T> static inline void store_int(void *to, VI x, int64_t lane, int64_t) { ((T *)to)[lane] = (T)x.v; }
template <class T> static inline void store_int(void *to, VL x, int64_t lane, int64_t) { ((T *)to)[lane] = (T)x.v; }
template <class T> static inline void store_bool(void *to, VI x, int64_t lane, int64_t) { ((T *)to)[lane] = x.v != 0; }

// ---- the program: generated below. Functions of it are called in several places.
#define FUNCTION static inline void
// The block itself is no function: in one nobody knows that the threads of a warp are together.
__attribute__((always_inline)) static inline void block(const void *const *in, void *const *out, int64_t first, int64_t lanes);

}  // namespace lanes
