// What CUDA text needs where there is no GPU: its words, and a loop over the threads. Threads of a group, which ask each
// other for values, take turns: each runs until it asks, and goes on when all have.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define __global__
#define __grid_constant__
#define __launch_bounds__(threads, at_once)

struct Place { unsigned x; };
static Place blockIdx, threadIdx;

enum { MOST_THREADS = 32, STACK = 8 << 20 };
struct Fiber {
    ucontext_t context;
    void *stack;
    uint64_t shown[2];  // the value it shows now, and the one before
    int turn;
    bool over;
};
static Fiber fibers[MOST_THREADS];
static ucontext_t outside;

template <class T> static T shuffled(T x, int thread, int width)
{
    Fiber &own = fibers[threadIdx.x % width];
    const int turn = own.turn;
    own.turn = !turn;
    memcpy(&own.shown[turn], &x, sizeof x);
    swapcontext(&own.context, &outside);
    memcpy(&x, &fibers[thread & (width - 1)].shown[turn], sizeof x);
    return x;
}

// Runs body(thread) in a group of threads that begins with `first`.
static void (*fiber_body)();
static int running;
static void in_fiber()
{
    const int own = running;
    fiber_body();
    fibers[own].over = true;  // and on to its uc_link
}
static void group(unsigned first, int width, void (*body)())
{
    fiber_body = body;
    for (int i = 0; i < width; i++) {
        Fiber &fiber = fibers[i];
        if (!fiber.stack) fiber.stack = malloc(STACK);
        fiber.turn = 0, fiber.over = false;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack, fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = &outside;
        makecontext(&fiber.context, in_fiber, 0);
    }
    for (int going = width; going;) {
        going = 0;
        for (int i = 0; i < width; i++) {
            if (fibers[i].over) continue;
            threadIdx.x = first + i, running = i;
            swapcontext(&outside, &fibers[i].context);
            going += !fibers[i].over;
        }
    }
}
