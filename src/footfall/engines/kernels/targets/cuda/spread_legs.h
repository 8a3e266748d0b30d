
// ---- legs of a lane, spread over the SPREAD threads of a group, EACH of them to a thread. Threads of a group are
// neighbours in a warp, which acts as one: what a thread asks of another is there.
namespace lanes {

template <class T> struct Legs {
    T at[EACH];
};

static inline int place() { return (int)(threadIdx.x % SPREAD); }
static inline int inside(int l, int legs) { return l < 0 ? 0 : l < legs ? l : legs - 1; }
static inline int leg(int k, int legs) { return inside(place() * EACH + k, legs); }
static inline bool among(int k, int start, int rows)
{
    const int l = place() * EACH + k - start;
    return l >= 0 && l < rows;
}
static inline bool owns(int k, int legs) { return among(k, 0, legs); }

// A value of another thread of the group.
template <class T> static inline T of_thread(T x, int thread) { return shuffled(x, thread, SPREAD); }
static inline bool of_thread(bool x, int thread) { return shuffled((int32_t)x, thread, SPREAD) != 0; }
static inline V of_thread(V x, int thread) { return V(of_thread(x.v, thread)); }
static inline VI of_thread(VI x, int thread) { return VI(of_thread(x.v, thread)); }
static inline VL of_thread(VL x, int thread) { return VL(of_thread(x.v, thread)); }

// The leg `away` from the k-th of this thread. Once loops are unrolled all but one value is known before the program runs.
template <class T> static inline T beside(const Legs<T> &x, int k, int away)
{
    const int slot = ((k + away) % EACH + EACH) % EACH, on = (k + away - slot) / EACH;
    return on == 0 ? x.at[slot] : of_thread(x.at[slot], place() + on);
}

// A leg by its number, which all threads of the group know; or each its own.
template <class T> static inline T one(const Legs<T> &x, int l) { return of_thread(x.at[l % EACH], l / EACH); }
template <class T> static inline T anywhere(const Legs<T> &x, int l)
{
    T found = x.at[0];
    _Pragma("unroll") for (int k = 0; k < EACH; k++) {
        const T y = of_thread(x.at[k], l / EACH);
        if (l % EACH == k) found = y;
    }
    return found;
}

}  // namespace lanes
