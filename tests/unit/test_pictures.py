"""How pictures look: one palette, plain names with units, legends over nothing, vectors for papers.

Claims about what is drawn and where, not about pixels.
"""

import itertools
import re

import numpy as np
import pytest
from matplotlib.colors import is_color_like

from footfall.engines.analysis.summary import summarise
from footfall.pictures.names import line_names, short
from footfall.pictures.plot_page import plot_page
from footfall.pictures.style import PAPER, STYLES, legend_columns, style_of, text_width
from footfall.scenario.catalog import shipped_scenarios
from footfall.scenario.load import load
from footfall.scene.palette import ROLES, SERIES, colour_of
from footfall.scene.sketch import Ground

#: Machado, Oliveira and Fernandes (2009), table 1, severity 1: what is left of linear RGB.
DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
#: CIE 1976 distance; 2.3 is just noticeable side by side, and shapes of a robot are apart.
APART = 14.0
WHITE = np.array([0.95047, 1.0, 1.08883])
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colour):
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light):
    f = TO_XYZ @ np.clip(light, 0.0, 1.0) / WHITE
    f = np.where(f > (6 / 29) ** 3, np.cbrt(f), f / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other):
    """As someone without green cones sees it."""
    seen = [lab(DEUTERANOPIA @ linear(colour)) for colour in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


@pytest.fixture(scope="module")
def sketches():
    systems = {name: load(name).system for name in shipped_scenarios()}
    drawn = {name: system.sketch() for name, system in systems.items()}
    for name, system in systems.items():
        drawn |= {f"{name}: {t}": s for t, s in getattr(system, "close_ups", dict)().items()}
    return drawn


# --- the palette ----------------------------------------------------------------------------------


def test_every_colour_of_a_shipped_sketch_is_a_role(sketches):
    for name, shapes in sketches.items():
        assert shapes
        for shape in shapes:
            assert shape.color in ROLES, f"{name}: {shape}"


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_roles_that_meet_in_a_sketch_are_told_apart_without_green_cones(sketches, theme):
    met = {
        pair
        for shapes in sketches.values()
        for pair in itertools.combinations(sorted({shape.color for shape in shapes} | {"paper"}), 2)
    }
    assert len(met) > 30
    for one, other in met:
        assert distance(ROLES[one][theme], ROLES[other][theme]) > APART, (one, other)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_lines_of_one_chart_are_told_apart_without_green_cones(theme):
    for one, other in itertools.combinations(SERIES, 2):
        assert distance(one[theme], other[theme]) > APART, (one, other)
    for pair in itertools.combinations(("work", "loss", "impact", "stored", "paper"), 2):
        assert distance(*(ROLES[role][theme] for role in pair)) > APART, pair


def test_words_have_contrast_enough_to_be_read():
    for theme in (0, 1):
        paper = TO_XYZ[1] @ linear(ROLES["paper"][theme])
        for role in ("ink", "quiet", "doubt"):
            own = TO_XYZ[1] @ linear(ROLES[role][theme])
            low, high = sorted((own, paper))
            assert (high + 0.05) / (low + 0.05) > 4.5, role  # WCAG 2, level AA


def test_a_name_that_is_no_role_is_a_colour_of_matplotlib_or_of_ones_own():
    assert [colour_of(name) for name in ("tab:red", "#336699", "0.5")] == [
        "tab:red",
        "#336699",
        "0.5",
    ]
    assert colour_of("force") != colour_of("force", dark=True)
    # A role hides no colour that a robot of one's own may use.
    assert not [role for role in ROLES if is_color_like(role)]


# --- the plot page --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(request):
    """Pages of one run, each made and laid out once."""
    made = {}

    def page(shipped, plots="main", style="screen"):
        key = shipped.name, plots, style
        if key not in made:
            figure = plot_page(
                shipped.run,
                summarise(shipped.run),
                title=shipped.name,
                plots=plots,
                style=style_of(style),
            )
            figure.draw_without_rendering()
            made[key] = figure
        return made[key]

    return page


def titles(figure):
    return [axes.get_title("left") for axes in figure.axes if axes.get_title("left")]


def test_all_plots_are_those_of_the_default_and_more(shipped, pages):
    few, every = titles(pages(shipped)), titles(pages(shipped, "all"))
    assert few == every[: len(few)] and len(every) > len(few) + 2
    assert len(few) <= 7 and few[0].startswith("Poses")
    for words in ("Speed forward", "Energy since the start", "Footfalls"):
        assert any(title.startswith(words) for title in few)


def test_every_axis_says_its_unit_and_nothing_is_called_by_its_column(shipped, pages):
    figure = pages(shipped, "all")
    units = {signal.unit for signal in shipped.run.signals.values()}
    for axes in figure.axes:
        words = [axes.get_title("left"), axes.get_xlabel(), axes.get_ylabel()]
        if axes.get_title("left") and "Poses" not in axes.get_title("left"):
            named = [found for word in words for found in re.findall(r"\[(.+?)\]", word)]
            assert named and set(named) <= units | {"s", "m"}, words
            # A value has a unit where its signal declares one: time is not all.
            assert set(named) != {"s"} or words[0].startswith("Footfalls"), words
        legend = axes.get_legend()
        words += [text.get_text() for text in legend.get_texts()] if legend else []
        for word in words:
            assert not re.search(r"[a-z]_[a-z]|[a-z]\.[a-z]", word), word


def test_legends_cover_no_axes_no_title_and_stay_on_the_page(shipped, pages):
    looked = 0
    for style in STYLES:
        figure = pages(shipped, "all", style)
        for axes in figure.axes:
            if axes.get_legend() is None:
                continue
            looked += 1
            covered = axes.get_legend().get_window_extent()
            assert covered.x1 <= figure.bbox.x1 and covered.x0 >= 0.0
            others = [other.get_window_extent() for other in figure.axes if other.axison]
            others += [other._left_title.get_window_extent() for other in figure.axes]
            for other in others:
                overlap = covered.intersection(covered, other)
                # A pixel: the axes' own frame line.
                assert overlap is None or min(overlap.width, overlap.height) < 1.0, axes.title
    assert looked >= 5


def test_a_page_for_a_paper_is_vectors_of_a_columns_width_with_its_fonts(shipped, pages, tmp_path):
    if shipped.name != "passive-wheel":
        pytest.skip("one is enough")
    figure = pages(shipped, "main", "paper")
    assert figure.get_figwidth() == 3.5 and figure.style is PAPER
    figure.savefig(tmp_path / "page.pdf")
    text = (tmp_path / "page.pdf").read_bytes()
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", text)
    assert float(box[0]) == pytest.approx(3.5 * 72)
    assert b"/FontFile2" in text and b"/Subtype /Image" not in text
    figure.savefig(tmp_path / "page.svg")
    drawn = (tmp_path / "page.svg").read_text()
    assert 'width="252pt"' in drawn and "<text" not in drawn and "<image" not in drawn
    # A caption speaks of (a), (b), ...
    assert [title[:3] for title in titles(figure)][:3] == ["(a)", "(b)", "(c)"]


def test_the_ground_is_in_the_picture_and_the_robot_too(shipped, pages):
    (strip,) = [a for a in pages(shipped).axes if a.get_title("left").startswith("Poses")]
    (x0, x1), (y0, y1) = strip.get_xlim(), strip.get_ylim()
    assert any(isinstance(shape, Ground) for shape in shipped.run.sketch)
    ground = [artist for artist in strip.patches if artist.get_zorder() == 0]
    assert len(ground) == 1
    surface = ground[0].get_xy()
    assert surface[:, 0].min() < x1 and surface[:, 0].max() > x0
    assert surface[:, 1].max() > y0  # something of it is above the lower edge
    for line in strip.lines:
        x, y = np.array(line.get_data())
        if line.get_zorder() > 1:
            assert x0 <= x.min() <= x.max() <= x1 and y0 <= y.min() <= y.max() <= y1


def test_an_unknown_style_or_page_says_which_there_are(hand_made):
    with pytest.raises(ValueError, match="screen and paper"):
        hand_made.plot(style="papr")
    with pytest.raises(ValueError, match="main or all"):
        hand_made.plot(plots="some")


# --- names ----------------------------------------------------------------------------------------


def test_lines_are_named_by_what_tells_them_apart(shipped):
    if shipped.name != "rimless-wheel-turning":
        pytest.skip("one robot with two of everything is enough")
    run = shipped.run
    assert line_names(run, ["left_motor.torque", "right_motor.torque"]) == [
        "left motor",
        "right motor",
    ]
    assert line_names(run, ["torso_angle", "roll"]) == ["torso from hanging", "roll"]
    # The same words would say nothing: then all of them, and what they are of.
    assert len(set(line_names(run, [*run.columns]))) == len(run.columns)


def test_a_short_name_is_the_first_clause():
    assert short("ground force up, on the robot") == "ground force up"
    assert short("joint 1: positive down") == "joint 1"


def test_a_legend_has_as_many_columns_as_fit():
    names = ["motor", "damper", "jumps", "stored"]
    assert legend_columns(names, 8.0, 1000.0) == 4
    assert legend_columns(names, 8.0, 10.0) == 1
    two = legend_columns(names, 8.0, 2.4 * (text_width("damper", 8.0) + 26.4))
    assert two == 2
