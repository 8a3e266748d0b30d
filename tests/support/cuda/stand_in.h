// What CUDA text needs where there is no GPU: its words, and a loop over the threads.

#define __global__
#define __grid_constant__
#define __launch_bounds__(threads, at_once)

struct Place { unsigned x; };
static thread_local Place blockIdx, threadIdx;
