// The way into a kernel of a CPU: all blocks of lanes, on several threads.
//
// Threads are declared here, as POSIX and Windows have them: a machine without a C library's headers compiles this too.
// A pthread_t is a number or an address as wide as a pointer wherever we run.

#ifdef _WIN32
extern "C" __declspec(dllimport) void *CreateThread(void *, uint64_t, unsigned (*)(void *), void *, unsigned, unsigned *);
extern "C" __declspec(dllimport) unsigned WaitForSingleObject(void *, unsigned);
extern "C" __declspec(dllimport) int CloseHandle(void *);
#define KERNEL_EXPORT extern "C" __declspec(dllexport)
#else
extern "C" int pthread_create(void **thread, const void *settings, void *(*run)(void *), void *given);
extern "C" int pthread_join(void *thread, void **returned);
#define KERNEL_EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace lanes {

// Lanes may end early, so blocks are handed out one by one, not in equal halves.
struct Job {
    const void *const *in;
    void *const *out;
    int64_t lanes, next;
};

static void work(Job *job)
{
    for (;;) {
        const int64_t first = LANES * __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
        if (first >= job->lanes) return;
        block(job->in, job->out, first, job->lanes);
    }
}

#ifdef _WIN32
static unsigned thread(void *job) { return work((Job *)job), 0; }
static bool begin(void **helper, Job *job) { return (*helper = CreateThread(0, 0, thread, job, 0, 0)) != 0; }
static void await(void *helper) { WaitForSingleObject(helper, ~0u), CloseHandle(helper); }
#else
static void *thread(void *job) { return work((Job *)job), nullptr; }
static bool begin(void **helper, Job *job) { return pthread_create(helper, 0, thread, job) == 0; }
static void await(void *helper) { pthread_join(helper, 0); }
#endif

}  // namespace lanes

KERNEL_EXPORT void footfall_run(const void *const *in, void *const *out, int64_t lanes, int64_t threads)
{
    enum { MOST = 1024 };
    void *helpers[MOST];
    lanes::Job job = {in, out, lanes, 0};
    const int64_t blocks = (lanes + LANES - 1) / LANES;
    int64_t wanted = (threads < blocks ? threads : blocks) - 1, started = 0;
    if (wanted > MOST) wanted = MOST;
    // A thread the system refuses is not missed: the caller works too, until no block is left.
    while (started < wanted && lanes::begin(&helpers[started], &job)) started++;
    lanes::work(&job);
    while (started > 0) lanes::await(helpers[--started]);
}

// One lane, turn after turn: what a turn made is where the next one begins, and is kept as a row.
KERNEL_EXPORT int64_t footfall_walk(const void *const *in, void *const *out, void *memory, const void *made,
    int64_t bytes, int64_t row_bytes, const int32_t *stop, char *rows, int64_t room)
{
    int64_t row = 0;
    for (; row < room && *stop == 0; row++) {
        lanes::block(in, out, 0, 1);
        __builtin_memcpy(memory, made, bytes);
        __builtin_memcpy(rows + row * row_bytes, made, row_bytes);
    }
    return row;
}
