"""A simulated arm with two fingers in MuJoCo.

MuJoCo's contacts are springs, so two of its steps make one of ours. The joints are driven by the
torques that bring them to the speed they should have, as far as the limits allow: computed from the
arm's own masses, gravity and turning forces, as a real arm's controller does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.arm.motion import DT_S
from robots.simulation.bodies import (
    GROUND_M,
    ArmBody,
    FixedBody,
    LooseBody,
    PhysicsWorld,
    SlidingDrawer,
)
from robots.simulation.grasping_arm import STILL_MPS, STILL_RADPS, GraspingArm
from robots.simulation.world import WorldOwner
from robots.table.geometry import Quat, Vec3

mujoco.set_mju_user_warning(lambda message: None)
"""It would write a file into the current folder."""
SUBSTEPS = 2
_STEP_S = DT_S / SUBSTEPS
_GAIN = 0.3
"""Share of a joint's error that one substep takes back."""
_FINGER_INERTIA_KG = 1.0
"""Of each finger's drive: a finger alone is too light to press with its whole force at once."""
ARM, THING, FIXED, PAD = 1, 2, 4, 8
"""Who touches whom, as bits: links of the arm, loose things, what stands, the fingers."""
_TOUCH = (0.004, 1.0)
"""Time constant of a contact (s) and its damping."""
_FRICTION_PAD = 0.9
_SLIDE = mujoco.mjtJoint.mjJNT_SLIDE
_DRAWER = "the drawer"


def _spec(arm: ArmBody) -> Any:
    """Return a world with an arm alone, to be added to."""
    passes = ["hand"] if arm.hand_passes else []
    spec = mujoco.MjSpec.from_file(str(arm.urdf))
    spec.compiler.fusestatic = False
    # What nothing touches sleeps: it costs nothing, and does not creep.
    spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    spec.option.timestep = _STEP_S
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.option.noslip_iterations = 3
    spec.option.iterations = 50
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    for geom in spec.geoms:
        name = geom.parent.name
        finger = any(joint.type == _SLIDE for joint in geom.parent.joints)
        geom.contype, geom.conaffinity = (PAD if finger or name in passes else ARM), 0
        if finger:
            geom.friction = [_FRICTION_PAD, 0.01, 1e-4]
            geom.priority = 1
    spec.joints[0].parent.sleep = mujoco.mjtSleepPolicy.mjSLEEP_NEVER
    for joint in spec.joints:
        if joint.type == _SLIDE:
            joint.armature = _FINGER_INERTIA_KG
            joint.limited = False
    return spec


def touching(more: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a shape that can be touched is given, besides further words of MuJoCo's own."""
    return {"solref": _TOUCH, "solimp": (0.95, 0.99, 0.001, 0.5, 2.0), **more}


def add_box(body: Any, half: Sequence[float], **more: Any) -> None:
    """Add a box that can be touched to a body of a spec; further words as MuJoCo's own."""
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=list(half), **touching(more))


def leaning(lean: float, angle: float) -> list[float]:
    """Return a turn about y, then about z (radians), as MuJoCo writes it: w x y z."""
    c, s = math.cos(lean / 2), math.sin(lean / 2)
    cz, sz = math.cos(angle / 2), math.sin(angle / 2)
    return [cz * c, -sz * s, cz * s, sz * c]


def _add_fixed(spec: Any, fixed: FixedBody, stands: Mapping[str, Any]) -> None:
    turn = leaning(0.0, fixed.yaw)
    body = spec.worldbody.add_body(pos=list(fixed.position), quat=turn)
    mass = {}
    if isinstance(fixed, SlidingDrawer):
        mass = {"mass": fixed.mass_kg / len(fixed.boxes)}
        body.name = _DRAWER
        body.add_joint(
            name=_DRAWER,
            type=_SLIDE,
            axis=[0, -1, 0],
            range=list(fixed.stops_m),
            limited=True,
            frictionloss=fixed.brake_n,
        )
        body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_NEVER
        _add_weld(spec, _DRAWER)
    for box in fixed.boxes:
        add_box(body, box.half, pos=list(box.middle), **stands, **mass)


def _add_loose(spec: Any, thing: LooseBody, touch: Mapping[str, Any]) -> None:
    x, y, z, w = thing.quaternion
    body = spec.worldbody.add_body(name=thing.name, pos=list(thing.position), quat=[w, x, y, z])
    body.add_freejoint()
    if thing.rests:
        body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_INIT
    if isinstance(thing.parts, tuple):
        whole = sum(math.prod(box.half) for box in thing.parts)
        for box in thing.parts:
            mass = thing.mass_kg
            if len(thing.parts) > 1:
                mass = mass * math.prod(box.half) / whole
            add_box(
                body, box.half, pos=list(box.middle), quat=leaning(*box.turn), mass=mass, **touch
            )
    else:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            size=[thing.parts.radius, thing.parts.height / 2, 0.0],
            mass=thing.mass_kg,
            **touching(touch),
        )
    _add_weld(spec, thing.name)


def _add_weld(spec: Any, body: str) -> None:
    """Prepare what will hold a body to the hand; it is off until `MujocoArm.fix`."""
    weld = spec.add_equality(
        type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY, name1="hand", name2=body
    )
    weld.active = False
    weld.solref = [2 * _STEP_S, 1.0]
    weld.solimp = [0.99, 0.999, 0.001, 0.5, 2.0]


class MujocoArm(GraspingArm):
    """A built simulation in MuJoCo."""

    def __init__(self, world: PhysicsWorld, owner: WorldOwner) -> None:
        """Build the simulation of a world: its bits depend on that alone."""
        super().__init__(world, owner)
        spec = _spec(world.arm)
        base = spec.body("base")
        base.pos, base.quat = list(world.base), leaning(0.0, world.base_yaw)
        touch = {"conaffinity": ARM | THING | PAD, "friction": list(world.friction.mujoco)}
        stands, loose = {"contype": FIXED, **touch}, {"contype": THING, **touch}
        if world.ground == "plane":
            plane = mujoco.mjtGeom.mjGEOM_PLANE
            spec.worldbody.add_geom(type=plane, size=[0, 0, 1], **touching(stands))
        elif world.ground == "box":
            add_box(spec.worldbody, (GROUND_M,) * 3, pos=[0, 0, -GROUND_M], **stands)
        for fixed in world.fixed:
            _add_fixed(spec, fixed, stands)
        for thing in world.loose:
            _add_loose(spec, thing, loose)
        self._model = model = spec.compile()
        self._data = data = mujoco.MjData(model)
        self.bodies = {thing.name: model.body(thing.name).id for thing in world.loose}
        self._weld_of = {int(model.eq_obj2id[row]): row for row in range(model.neq)}
        self._hand, self._held_body = model.body("hand").id, 0
        numbers = [*self.bodies.values()]
        first = model.body_dofadr[numbers] if numbers else np.zeros(0, dtype=int)
        self._loose = first[:, None] + np.arange(6)
        """Where the speeds of the loose bodies are: three of each along, three around."""
        self._fingers = 2 if world.arm.fingers else 0
        count = self._driven = len(world.joints) + self._fingers
        pads = [n for n in range(count) if model.jnt_type[n] == _SLIDE]
        self._pads = set(model.jnt_bodyid[pads].tolist())
        """The links that close on something."""
        data.qpos[:count] = [*world.joints, *[world.gap_m / 2] * self._fingers]
        self._most = np.array([*self._arm.torques, *[0.0] * self._fingers])
        # What each step reads and writes, as arrays.
        self._q, self._speed = data.qpos[:count], data.qvel[:count]
        self._bias, self._force = data.qfrc_bias[:count], data.qfrc_applied[:count]
        self._all_wanted, self._all_needed = np.zeros(model.nv), np.zeros(model.nv)
        for fixed in world.fixed:
            if isinstance(fixed, SlidingDrawer):
                data.joint(_DRAWER).qpos[:] = fixed.opening_m
        if world.held:
            self.fix(self.bodies[world.held])
            self.held = world.held

    def tip(self) -> Vec3:
        """Return where the link `tip` is, metres."""
        mujoco.mj_kinematics(self._model, self._data)
        x, y, z = self._data.body("tip").xpos.tolist()
        return (x, y, z)

    def place_of(self, name: str) -> tuple[Vec3, Quat]:
        """Return where a body is now; see `GraspingArm`."""
        at = int(self._model.jnt_qposadr[self._model.body_jntadr[self.bodies[name]]])
        px, py, pz, w, x, y, z = self._data.qpos[at : at + 7].tolist()
        return (px, py, pz), (x, y, z, w)

    def opening_m(self) -> float:
        """Return how far the drawer is pulled out."""
        return float(self._data.joint(_DRAWER).qpos[0])

    def take_handle(self) -> bool:
        """Close the fingers on the drawer's handle; see `GraspingArm`."""
        return self.grasp(self._model.body(_DRAWER).id)

    def _advance(self, velocities: Sequence[float], half_m: float, finger_mps: float) -> None:
        model, data, most, count = self._model, self._data, self._most, self._driven
        most[len(self.targets) :] = self._force_n
        goals = np.array([*self.targets, *[half_m] * self._fingers])
        speeds = np.array([*velocities, *[finger_mps] * self._fingers])
        least, wanted, needed = -most, self._all_wanted[:count], self._all_needed[:count]
        for _ in range(SUBSTEPS):
            mujoco.mj_step1(model, data)
            np.subtract(goals, self._q, out=wanted)
            wanted *= _GAIN / _STEP_S
            wanted += speeds
            wanted -= self._speed
            wanted /= _STEP_S
            mujoco.mj_mulM(model, data, self._all_needed, self._all_wanted)
            np.add(needed, self._bias, out=needed)
            np.maximum(needed, least, out=needed)
            np.minimum(needed, most, out=self._force)
            mujoco.mj_step2(model, data)
            goals += speeds * _STEP_S

    def fix(self, body: Any, link: int = -1) -> None:
        """Fix a body that has a weld, by its number, to the hand where it is."""
        model, data, hand = self._model, self._data, self._hand
        mujoco.mj_kinematics(model, data)
        turn, back, offset = np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(back, data.xquat[hand])
        mujoco.mju_mulQuat(turn, back, data.xquat[body])
        mujoco.mju_rotVecQuat(offset, data.xpos[body] - data.xpos[hand], back)
        row = self._weld_of[body]
        model.eq_data[row, :3] = 0.0
        model.eq_data[row, 3:6], model.eq_data[row, 6:10] = offset, turn
        data.eq_active[row] = 1
        self._held_body = body
        self._pads_touch(body, False)

    def _let_go(self) -> None:
        if self._held_body:
            self._data.eq_active[self._weld_of[self._held_body]] = 0
            self._pads_touch(self._held_body, True)
            self._held_body = 0

    def _pads_touch(self, body: int, enabled: bool) -> None:
        mine = self._model.geom_bodyid == body
        self._model.geom_conaffinity[mine] = ARM | THING | (PAD if enabled else 0)

    def _touching(self, body: int) -> NDArray[np.int32]:
        """Return the bodies that touch one, by their numbers."""
        pairs = self._model.geom_bodyid[self._data.contact.geom]
        ours = pairs[self._data.contact.dist < 0]
        others = ours[(ours == body).any(axis=1)]
        found: NDArray[np.int32] = others[others != body]
        return found

    def _both_press(self, body: Any, link: int) -> bool:
        return body is not None and self._pads <= set(self._touching(body).tolist())

    def _closed_to_m(self) -> float:
        count = self._driven
        return float(self._data.qpos[count - 2 : count].sum())

    def _is_still(self) -> bool:
        speeds = self._data.qvel[self._loose]
        return bool(
            (np.abs(speeds[:, :3]) <= STILL_MPS).all()
            and (np.abs(speeds[:, 3:]) <= STILL_RADPS).all()
        )

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""
        return tuple(self._data.qpos[: len(self.targets)].tolist())
