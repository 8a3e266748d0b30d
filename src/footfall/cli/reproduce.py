"""`footfall reproduce`: the figures, tables and functions of a source, made again."""

from footfall.cli.extras import require
from footfall.cli.study import Options, answer


def reproduce_source(name: str, items: list[str], options: Options) -> int:
    """All items of a source, or those named; the status of a study."""
    require("matplotlib", "plots")
    from footfall.sources.library import source
    from footfall.sources.study import Reproduce, Request, SourceSubject

    request = Request(items=",".join(items), style=options.style)
    return answer(Reproduce(request, SourceSubject(source(name))), options)
