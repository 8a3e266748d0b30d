"""Where the command begins, by `footfall` or `python -m footfall`.

Ctrl-C is taken over before anything of weight is imported.
"""

from footfall.cli import stopping


def main() -> None:
    """Entry point."""
    stopping.watch()
    from footfall.cli.main import main as command

    command()


if __name__ == "__main__":
    main()
