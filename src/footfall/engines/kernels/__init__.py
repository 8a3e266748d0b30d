"""From a traced program to text to machine code. Knows neither robots nor time.

The front reads programs: `lane_program` traces them, `traced_program` knows JAX's forms,
`cpp_source` goes through the equations by `cpp_rules`, `cpp_legs` and `cpp_totals`, `cpp_program`
holds what it found, `cpp_schedule` orders it, `cpp_text` writes it with `cpp_values`. What it
cannot take is in `fuse_errors`. A `target` finishes the text: a folder in `targets/`.
`run_compiler` runs compilers; `kept_code` keeps what they make, and `kept_program` what was traced,
in a `private_folder` of the `cache_folder`.
"""
