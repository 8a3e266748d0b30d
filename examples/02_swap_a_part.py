"""Exchange a part: the same wheel on springs and on springs that stiffen, one over the other."""

import footfall as ff

runs = {}
for leg in ("spring", "stiffening"):
    runs[leg] = ff.load("rimless-wheel", {"leg": leg}, duration=5).run()
    print(f"{leg:>10}: {runs[leg].metrics['mean_speed']:.4f} m/s, {runs[leg].verdict.word}")

ff.compare(runs["spring"], runs["stiffening"], path="02_swap_a_part.png")
