"""Every problem solved a second time, by another way, as one would from its header alone."""

SOLUTIONS = (
    """\
def get_path_length(points):
    return sum((np.linalg.norm(points[i + 1] - points[i]) for i in range(len(points) - 1)))
""",
    """\
def get_box_center(min_xy, max_xy):
    return (min_xy + max_xy) / 2
""",
    """\
def sort_points_by_distance(points, origin):
    return sorted(points, key=lambda p: np.linalg.norm(p - origin))
""",
    """\
def get_points_within_radius(points, center, radius):
    return np.array([p for p in points if np.linalg.norm(p - center) < radius])
""",
    """\
def clip_point_to_bounds(point, lower, upper):
    return np.minimum(np.maximum(point, lower), upper)
""",
    """\
def get_angle_between_vectors(first, second):
    cross = np.linalg.norm(np.cross([*first, 0, 0][:3], [*second, 0, 0][:3]))
    return np.arctan2(cross, np.dot(first, second))
""",
    """\
def get_pairwise_distances(points):
    n = len(points)
    distances = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            distances[i, j] = np.linalg.norm(points[i] - points[j])
    return distances
""",
    """\
def mirror_points_across_vertical_line(points, x):
    return np.array([[2 * x - p[0], p[1]] for p in points])
""",
    """\
def get_signed_area(vertices):
    area = 0
    n = len(vertices)
    for i in range(n):
        j = (i + 1) % n
        area += vertices[i][0] * vertices[j][1] - vertices[j][0] * vertices[i][1]
    return area / 2
""",
    """\
def interpolate_waypoints(start, goal, num_points):
    return [start + (goal - start) * i / (num_points - 1) for i in range(num_points)]
""",
    """\
def project_point_on_line(point, line_start, line_end):
    d = line_end - line_start
    d = d / np.linalg.norm(d)
    return line_start + np.dot(point - line_start, d) * d
""",
    """\
def are_points_collinear(points):
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            for k in range(j + 1, len(points)):
                a, b = (points[j] - points[i], points[k] - points[i])
                if abs(a[0] * b[1] - a[1] * b[0]) > 1e-09:
                    return False
    return True
""",
    """\
def get_second_farthest_point(points, reference_point):
    return sorted(points, key=lambda p: np.linalg.norm(p - reference_point), reverse=True)[1]
""",
    """\
def get_xy_from_polar(radius, angle_deg):
    a = np.deg2rad(angle_deg)
    return (radius * np.cos(a), radius * np.sin(a))
""",
    """\
def get_weighted_center(points, weights):
    return np.sum(points * weights[:, np.newaxis], axis=0) / np.sum(weights)
""",
    """\
def resample_path_evenly(points, num_points):
    line = LineString(points)
    return [line.interpolate(d).coords[0] for d in np.linspace(0, line.length, num_points)]
""",
    """\
def get_saturated_pi_command(error, error_sum, kp, ki, limit):
    return np.clip(kp * error + ki * error_sum, -limit, limit)
""",
    """\
def get_left_and_right_wheel_speeds(linear_velocity, angular_velocity, wheel_base):
    left = linear_velocity - angular_velocity * wheel_base / 2
    right = linear_velocity + angular_velocity * wheel_base / 2
    return (left, right)
""",
    """\
def get_joint_torques_from_ee_force(jacobian, force):
    return jacobian.T @ force
""",
    """\
def get_trapezoidal_profile_velocity(t, distance, max_velocity, acceleration):
    t_acc = max_velocity / acceleration
    d_acc = 0.5 * acceleration * t_acc ** 2
    if 2 * d_acc > distance:
        t_acc = np.sqrt(distance / acceleration)
        v = acceleration * t_acc
        t_flat = 0
    else:
        v = max_velocity
        t_flat = (distance - 2 * d_acc) / max_velocity
    if t < 0:
        return 0
    if t < t_acc:
        return acceleration * t
    if t < t_acc + t_flat:
        return v
    if t < 2 * t_acc + t_flat:
        return v - acceleration * (t - t_acc - t_flat)
    return 0
""",
    """\
def make_ring(center, outer_radius, inner_radius):
    return Point(center).buffer(outer_radius).difference(Point(center).buffer(inner_radius))
""",
    """\
def get_covered_fraction(polygon, cover):
    return polygon.intersection(cover).area / polygon.area
""",
    """\
def make_rectangle(center, width, height):
    x, y = center
    w, h = width / 2, height / 2
    return Polygon([(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h)])
""",
    """\
def rotate_polygon_about_point(polygon, angle_deg, point):
    return rotate(polygon, angle_deg, origin=point)
""",
    """\
def get_largest_polygon(polygons):
    areas = [p.area for p in polygons]
    return polygons[np.argmax(areas)]
""",
    """\
def extend_line_at_end(line, distance):
    points = list(line.coords)
    (x1, y1), (x2, y2) = points[-2:]
    angle = math.atan2(y2 - y1, x2 - x1)
    points.append((x2 + distance * math.cos(angle), y2 + distance * math.sin(angle)))
    return LineString(points)
""",
    """\
def get_distance_to_edge(point, polygon):
    return polygon.boundary.distance(Point(point))
""",
    """\
def is_path_clear(path, obstacles, clearance):
    buffered = path.buffer(clearance)
    for o in obstacles:
        if buffered.intersects(o):
            return False
    return True
""",
    """\
def scale_rectangle_to_area(rectangle, area):
    s = np.sqrt(area / rectangle.area)
    return scale(rectangle, xfact=s, yfact=s, origin='centroid')
""",
    """\
def get_part_left_of(polygon, x):
    minx, miny, maxx, maxy = polygon.bounds
    return polygon.intersection(box(minx, miny, x, maxy))
""",
    """\
def get_object_area(name):
    return Polygon(get_object_outline(name)).area
""",
    """\
def sort_object_names_by_area():
    names = get_object_names()
    areas = [Polygon(get_object_outline(n)).area for n in names]
    return [names[i] for i in np.argsort(areas)]
""",
    """\
def get_name_of_object_with_closest_center(name):
    c = Polygon(get_object_outline(name)).centroid
    best, best_d = (None, np.inf)
    for n in get_object_names():
        if n == name:
            continue
        d = c.distance(Polygon(get_object_outline(n)).centroid)
        if d < best_d:
            best, best_d = (n, d)
    return best
""",
    """\
def do_objects_overlap(first_name, second_name):
    first = Polygon(get_object_outline(first_name))
    second = Polygon(get_object_outline(second_name))
    return first.intersection(second).area > 0
""",
    """\
def get_gap_between_objects(first_name, second_name):
    a, b = (Polygon(get_object_outline(first_name)), Polygon(get_object_outline(second_name)))
    return a.distance(b)
""",
    """\
def get_names_of_objects_left_of(name):
    left = Polygon(get_object_outline(name)).bounds[0]
    others = [n for n in get_object_names() if n != name]
    return [n for n in others if Polygon(get_object_outline(n)).bounds[2] < left]
""",
    """\
def get_bounds_of_all_objects():
    return unary_union([Polygon(get_object_outline(n)) for n in get_object_names()]).bounds
""",
)
