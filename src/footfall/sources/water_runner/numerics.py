"""Section 5: parts that are swapped, and integrators that go forward only."""

from footfall.sources.item import Item

ITEMS = (
    Item(
        "sec-5-swap",
        "Swapping the foot",
        "Another foot, for water or for ground, by loading another class.",
        None,
        "footfall run water-runner --set foot=compliant --set terrain=flat --duration 0.5",
    ),
    Item(
        "sec-5-adams-bashforth",
        "Adams-Bashforth beside other methods",
        "The robot can only go forward in time, so past slopes must do: Adams-Bashforth.",
        None,
        "footfall compare-integrators water-runner --solvers adams-bashforth-2,rk4,dopri5",
        "Said to interpolate; it extrapolates. Going forward only is a choice of the source's"
        " program: our parts keep no state, so any method will do.",
    ),
    Item(
        "sec-5-multirate",
        "The foot at a fine time step",
        "The compliant foot on hard ground is stiff: its own Runge-Kutta at a much finer step.",
        None,
        "footfall run water-runner-ground --set sim.solver=multirate --set sim.step=2e-4"
        " --duration 0.3",
    ),
    Item(
        "sec-5-near-ground",
        "Short steps near the ground",
        "A shorter step of the robot while a foot's tip is lower than some height above ground.",
        None,
        "footfall run water-runner-ground --set sim.near_room=2e-3 --set sim.near_step=1e-4"
        " --duration 0.3",
    ),
)
