"""The drawing arm's primitives: what programs call, the same in both modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
from shapely.geometry import LineString

from cap.errors import LimitExceeded, NotFound, RobotError
from cap.robot.view import Appearance, Shape
from robots.arm.strokes import Array, Points, path_of, stroke_of
from robots.base import action, perception
from robots.drawing import board
from robots.drawing.board import (
    BOARD_X,
    BOARD_Y,
    MAX_STROKES,
    BoardState,
    check_path,
    sample_blocks,
)
from robots.drawing.worlds import PARK, Board
from robots.ravens import scene_file
from robots.ravens.scene import Scene
from robots.simulation.simulated_robot import SimulatedRobot, TurnTaker
from robots.simulation.world import WorldOwner
from robots.table.arguments import count, named_points, point
from robots.table.geometry import CORNERS, PLACES
from robots.table.object_names import find


class DrawingRobot(TurnTaker, SimulatedRobot[BoardState]):
    """A UR5e with one black pen over a whiteboard, on which a few coloured blocks stand.

    Positions are xy in metres in the board frame: x grows to the right, y grows up. The board is
    x -0.3 to 0.3, y -0.8 to -0.2. A '<colour> block' is a 4 cm cube; a line keeps 4.1 cm from
    its centre. Places have names too: 'top left corner', 'top right corner', 'bottom left
    corner', 'bottom right corner', 'top side', 'right side', 'bottom side', 'left side', 'middle';
    corners and sides are 5 cm from the edge. A shape is an array of points, shape (n, 2); a closed
    one ends with its first point.
    """

    name = "drawing"
    _stopped = "stopped: the stroke was interrupted; look at the board and go on"
    _world: Board

    def __init__(
        self,
        names: Sequence[str] | Scene,
        seed: int,
        mode: str,
        make_board: Callable[[WorldOwner, BoardState], Board],
    ) -> None:
        """Set the blocks of a seed, or those of a scene, on an empty board.

        Raises:
            UsageError: The blocks do not fit.
        """
        self._objects = names if isinstance(names, Scene) else tuple(names)
        super().__init__(seed, mode, make_board)

    def _first_state(self, seed: int) -> BoardState:
        blocks = self._objects
        if not isinstance(blocks, Scene):
            blocks = sample_blocks(blocks, np.random.default_rng(seed))
        return BoardState(blocks, PARK.joints())

    # What the engine needs of a robot, beyond what all simulated ones have.

    def context(self) -> Mapping[str, Any]:
        """Return the names of the objects on the board."""
        return {"objects": self.state.scene.names}

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return where each object is: xyz in metres. Drawing moves none of them."""
        return {body.name: body.position for body in self.state.scene.bodies}

    landmarks = PLACES

    def condition(self) -> Mapping[str, Any]:
        """Return how much ink is on the board, with a mark that differs between drawings."""
        strokes = self.state.strokes
        length = sum(LineString(stroke).length for stroke in strokes)
        count = "1 stroke" if len(strokes) == 1 else f"{len(strokes)} strokes"
        drawn = crc32(repr([np.round(stroke, 4).tolist() for stroke in strokes]).encode())
        return {"ink": f"{count} ({length:.4f} m, mark {drawn:08x})" if strokes else "none"}

    @property
    def strokes(self) -> list[list[tuple[float, float]]]:
        """The ink: polylines of xy, metres, in the order they were drawn."""
        return [list(stroke) for stroke in self.state.strokes]

    def scene_text(self, about: str) -> str:
        """Return what stands on the board as a file that `create(scene=...)` reads."""
        return scene_file.text_of(self.state.scene, about)

    def shapes(self) -> Mapping[str, Sequence[Shape]]:
        """Return what each body is made of, for who draws the board."""
        return board.shapes(self.state)

    def view(self) -> Appearance:
        """Return where each body and the ink is at this moment, in the middle of a motion too."""
        return board.view(self._world.now())

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return the board from above as a PIL image."""
        return board.draw(self._world.now(), self._world.tip(), width, height)

    def svg(self) -> str:
        """Return the board as SVG, in millimetres."""
        return board.svg(self.state)

    # Perception.

    @perception
    def get_obj_names(self) -> list[str]:
        """Return the names of the objects on the board, such as ['red block', 'blue block']."""
        return self.state.scene.names

    @perception
    def is_obj_visible(self, name: str) -> bool:
        """Return whether an object of that name is on the board; never fails for a name."""
        try:
            return bool(find(name, self.state.scene.names))
        except NotFound:
            return False

    @perception
    def get_obj_pos(self, name: str) -> Array:
        """Return the centre of an object, or of a corner, a side or 'middle'.

        Args:
            name: An object's or a place's name, such as 'red block' or 'top left corner'.

        Returns:
            Array of shape (2,): x and y in metres in the board frame.

        Raises:
            NotFound: Nothing has that name.
        """
        known = named_points(self.state.scene.bodies)
        return np.array(known[find(name, known, "object or place")])

    @perception
    def get_bbox(self, name: str) -> Array:
        """Return the box around an object seen from above.

        Args:
            name: An object's name.

        Returns:
            Array of shape (4,): min x, min y, max x, max y in metres.

        Raises:
            NotFound: Nothing has that name.
        """
        return np.array(self.state.scene[find(name, self.state.scene.names)].bbox())

    @perception
    def denormalize_xy(self, pos_normalized: Sequence[float] | Array) -> Array:
        """Turn a position given as fractions of the way from corner to corner into metres.

        Args:
            pos_normalized: Two numbers, 0 to 1: (0, 0) is 'bottom left corner', (1, 1) 'top right
                corner', (0.5, 0.5) 'middle'.

        Returns:
            Array of shape (2,): x and y in metres.
        """
        x, y = point(pos_normalized, "pos_normalized")
        left, bottom = CORNERS["bottom left corner"]
        right, top = CORNERS["top right corner"]
        return np.array([left + x * (right - left), bottom + y * (top - bottom)])

    @perception
    def get_drawn_shapes(self) -> list[Array]:
        """Return the lines that are on the board now, in the order they were drawn.

        To move or scale one: erase it, then draw its changed points.

        Returns:
            Arrays of shape (n, 2): x and y in metres. Where two were joined or one was cut by the
            eraser, pieces are lines of their own.
        """
        return [np.array(stroke) for stroke in self.state.strokes]

    # Actions.

    @action
    def draw(self, pts_2d: Points) -> float:
        """Draw a line through points, pen down from the first to the last.

        Args:
            pts_2d: 2 or more points of x and y in metres on the board, shape (n, 2). To close a
                shape, end with its first point.

        Returns:
            Length of the ink, metres.

        Raises:
            Unreachable: A point is off the board; nothing was drawn. The message says what fits.
            Collision: A block is in the way; nothing was drawn.
            LimitExceeded: More than 20 m or 10,000 points, or a full board.
        """
        return self._trace(pts_2d, keep=True)

    @action
    def erase(self, pts_2d: Points) -> float:
        """Wipe along a line through points: all ink within 1 cm of it goes, whatever it is part of.

        To leave other shapes whole that cross it: erase them as well, then draw them again.

        Args:
            pts_2d: 2 or more points of x and y in metres on the board, shape (n, 2), such as those
                a shape was drawn with.

        Returns:
            Length of the wiped line, metres.

        Raises:
            Unreachable: A point is off the board; nothing was wiped.
            Collision: A block is in the way; nothing was wiped.
            LimitExceeded: More than 20 m or 10,000 points.
        """
        return self._trace(pts_2d, keep=False)

    @action
    def redraw(self, old_shapes: Sequence[Points], new_shapes: Sequence[Points]) -> None:
        """Erase shapes and draw others: changed ones, and those the eraser crosses, as they were.

        Args:
            old_shapes: What is erased first: lists of points of x and y in metres.
            new_shapes: What is drawn then, the same.

        Raises:
            Unreachable: A point is off the board; nothing was erased or drawn.
            Collision: A block is in the way; nothing was erased or drawn.
            LimitExceeded: A line is too long, or the board too full; nothing was erased or drawn.
        """
        old, new = self._paths(old_shapes, "old_shapes"), self._paths(new_shapes, "new_shapes")
        after = self.state
        for points in old:
            after = after.erased(stroke_of(points))
        for points in new:
            after = after.drawn(stroke_of(points))
        self._begin()
        self._erase_and_draw(old, new)

    @action
    def undo_turns(self, turns: int = 1) -> bool:
        """Put the ink back as it was before the last turns that changed it.

        A turn that failed or was stopped counts as well, and so does this one.

        Args:
            turns: How many, 1 or more.

        Returns:
            Whether there was a turn to undo.

        Raises:
            NotFound: There were fewer turns.
        """
        number = count(turns, "turns", 1)
        history = self.state.turns.lasting(self.state.strokes)
        if not history.earlier and number == 1:
            return False
        before = history.before(number, "changed the ink")
        self._stop.clear()  # its own actions are no turn to undo
        # Erasing what was not there cuts what crosses it, which is then erased in its turn.
        while other := [stroke for stroke in self.state.strokes if stroke not in before]:
            self._erase_and_draw([np.array(stroke) for stroke in other], [])
        kept = self.state.strokes
        missing = [stroke for stroke in before if stroke not in kept]
        self._erase_and_draw([], [np.array(stroke) for stroke in missing])
        drawn = list(self.state.strokes[len(kept) :])
        if len(drawn) == len(missing):  # in the order it was drawn in
            order = [stroke if stroke in kept else drawn.pop(0) for stroke in before]
            self._world.state = replace(self.state, strokes=tuple(order))
        self._world.state = replace(self.state, turns=history.taken_back(number))
        return True

    @action
    def say(self, text: str) -> None:
        """Tell the person something, in words.

        Args:
            text: What to say.
        """
        self.spoken.append(str(text))

    def _path(self, pts_2d: Points, what: str) -> Array:
        """Return a path that can be followed with the pen down, none of it off the board."""
        points = path_of(pts_2d, what)
        check_path(self.state.scene, points)
        return np.clip(points, (BOARD_X[0], BOARD_Y[0]), (BOARD_X[1], BOARD_Y[1]))

    def _paths(self, shapes: Sequence[Points], what: str) -> list[Array]:
        """Return the paths of several shapes, each of which can be followed with the pen down."""
        if not isinstance(shapes, list | tuple | np.ndarray) or getattr(shapes, "ndim", 1) == 0:
            raise TypeError(
                f"{what} must be a list of shapes, each of points of x and y; "
                f"got a {type(shapes).__name__}"
            )
        if len(shapes) > MAX_STROKES:
            raise LimitExceeded(f"{what} are {len(shapes)} shapes; use at most {MAX_STROKES}")
        return [self._path(pts, f"{what}[{number}]") for number, pts in enumerate(shapes)]

    def _trace(self, pts_2d: Points, *, keep: bool) -> float:
        points = self._path(pts_2d, "pts_2d")
        self._begin()
        self.check_stop()
        stroke = self._world.trace(points, keep=keep)
        return float(LineString(stroke).length)

    def _erase_and_draw(self, old: Sequence[Array], new: Sequence[Array]) -> None:
        """Erase lines, then draw others.

        Raises:
            RobotError: It was stopped; the message says what is done, and what is left.
        """
        traced = 0
        before = self.state.strokes
        try:
            for keep, paths in ((False, old), (True, new)):
                for points in paths:
                    before = self.state.strokes
                    self.check_stop()
                    self._world.trace(points, keep=keep)
                    traced += 1
        except RobotError as error:
            erased, drawn = min(traced, len(old)), max(0, traced - len(old))
            half = ", the next one half" if self.state.strokes != before else ""
            raise type(error)(
                f"{error}; {erased} of {len(old)} shapes were erased and {drawn} of {len(new)} "
                f"drawn{half}; undo, or undo_turns(), puts back what was there"
            ) from None

    def _begin(self) -> None:
        """Begin an action; remember the ink if it is the first of a turn."""
        self._stop.clear()
        self._world.state = replace(self.state, turns=self.state.turns.begun(self.state.strokes))
