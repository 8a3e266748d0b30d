"""A tree with all that URDF has a word for, read back by MuJoCo, which reads URDF by itself."""

import mujoco
import numpy as np
import pytest

from footfall.engines.bodies.urdf import urdf_of

TREE = """
<mujoco>
  <compiler angle="radian" eulerseq="zyx"/>
  <worldbody>
    <body name="base" pos="0.1 -0.2 0.3" euler="0.4 -0.7 1.1">
      <geom type="box" size="0.1 0.2 0.05" pos="0.02 0 0.01" euler="0.2 0.3 -0.4" mass="2"/>
      <body name="arm" pos="0 0.1 0.2" euler="-0.3 0.5 0.2">
        <joint name="shoulder" axis="0 0.6 0.8" pos="0.01 0.02 0.03" range="-0.5 0.9" damping="0.7"/>
        <geom type="cylinder" size="0.03 0.15" pos="0 0 -0.15" euler="0.1 0 0" mass="1"/>
        <body name="up" pos="0 0 -0.3" euler="0.4 {pitch} 0.2">
          <joint name="slide" type="slide" axis="0 0 1" range="-0.02 0.05" damping="3"/>
          <joint name="spin" axis="1 0 0"/>
          <geom type="sphere" size="0.04" pos="0.05 0 0" mass="0.5"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
#: Also where the axis of a frame points straight up or down, and roll and yaw are one turn.
PITCHES = 0.8, np.pi / 2, -np.pi / 2


@pytest.fixture(params=PITCHES)
def both(request):
    wanted = mujoco.MjModel.from_xml_string(TREE.format(pitch=request.param))
    text = urdf_of(wanted, "tree")
    # MuJoCo leaves visuals away, and melts bodies without a joint into their parent, unless told.
    told = '<mujoco><compiler discardvisual="false" fusestatic="false"/></mujoco></robot>'
    return wanted, mujoco.MjModel.from_xml_string(text.replace("</robot>", told))


def test_every_shape_is_where_it_was_at_any_place_of_the_joints(both):
    wanted, found = both
    assert found.ngeom == wanted.ngeom == 3
    draw = np.random.default_rng(3)
    for _ in range(3):
        a, b = mujoco.MjData(wanted), mujoco.MjData(found)
        a.qpos[:] = b.qpos[:] = 0.4 * draw.standard_normal(wanted.nq)
        mujoco.mj_forward(wanted, a)
        mujoco.mj_forward(found, b)
        assert np.allclose(a.geom_xpos, b.geom_xpos, atol=1e-9)
        for i in range(3):  # a sphere has no direction, but a frame has
            assert np.allclose(a.geom_xmat[i], b.geom_xmat[i], atol=1e-7)
        assert np.allclose(a.xipos[1:].mean(0), _centres(b, found).mean(0), atol=1e-9)


def _centres(data, model):
    """Of the bodies that have a weight worth the word."""
    return np.array([data.xipos[i] for i in range(1, model.nbody) if model.body_mass[i] > 0.1])


def test_sizes_limits_and_damping_are_the_same(both):
    wanted, found = both
    assert found.geom_type.tolist() == wanted.geom_type.tolist()
    for one, other, kind in zip(wanted.geom_size, found.geom_size, wanted.geom_type, strict=True):
        counts = {mujoco.mjtGeom.mjGEOM_SPHERE: 1, mujoco.mjtGeom.mjGEOM_CYLINDER: 2}
        count = counts.get(mujoco.mjtGeom(kind), 3)
        assert np.allclose(one[:count], other[:count], rtol=1e-12)
    for i in range(wanted.njnt):
        name = wanted.joint(i).name
        here, there = wanted.joint(name), found.joint(name)
        assert there.damping == pytest.approx(here.damping), name
        assert bool(there.limited[0]) == bool(here.limited[0]), name
        if here.limited[0]:
            assert there.range == pytest.approx(here.range), name
