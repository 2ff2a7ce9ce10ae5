# /// cap
# doc = "Return the name of the object that words mean, or of a plural a list, perhaps empty; only what is seen now. Raises NotFound where there is no such one."
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# exact = "objects"
# ///
import numpy as np
from robot import get_obj_pos, get_obj_size, get_robot_pos

objects = ['apple', 'banana', 'coke can', 'bowl', 'water bottle']
# the apple.
ret_val = 'apple'

# a coke can.
ret_val = 'coke can'

# the bowl.
ret_val = 'bowl'

# the mug.
ret_val = None

# the apple and the banana.
ret_val = ['apple', 'banana']

# the fruit.
ret_val = [name for name in objects if name in ['apple', 'green apple', 'banana', 'orange', 'lemon', 'lime', 'pear', 'peach', 'plum', 'grapefruit', 'strawberry']]

# all the fruit.
ret_val = [name for name in objects if name in ['apple', 'green apple', 'banana', 'orange', 'lemon', 'lime', 'pear', 'peach', 'plum', 'grapefruit', 'strawberry']]

# the drinks.
ret_val = [name for name in objects if name in ['coke can', 'water bottle', 'juice box']]

# all the drinks.
ret_val = [name for name in objects if name in ['coke can', 'water bottle', 'juice box']]

# a drink.
ret_val = [name for name in objects if name in ['coke can', 'water bottle', 'juice box']][0]

objects = ['apple', 'lime', 'cup', 'red plate', 'green plate']
# the plates.
ret_val = [name for name in objects if 'plate' in name]

# the smallest fruit.
fruit = [name for name in objects if name in ['apple', 'green apple', 'banana', 'orange', 'lemon', 'lime', 'pear', 'peach', 'plum', 'grapefruit', 'strawberry']]
ret_val = min(fruit, key=lambda name: np.prod(get_obj_size(name)))

# the largest object.
ret_val = max(objects, key=lambda name: np.prod(get_obj_size(name)))

objects = ['banana', 'chip bag', 'cracker box', 'cup', 'sponge', 'orange']
# the snacks.
ret_val = [name for name in objects if name in ['chip bag', 'cracker box', 'candy bar']]

# all the snacks.
ret_val = [name for name in objects if name in ['chip bag', 'cracker box', 'candy bar']]

# a snack.
ret_val = [name for name in objects if name in ['chip bag', 'cracker box', 'candy bar']][0]

# a fruit.
ret_val = [name for name in objects if name in ['apple', 'green apple', 'banana', 'orange', 'lemon', 'lime', 'pear', 'peach', 'plum', 'grapefruit', 'strawberry']][0]

# the objects.
ret_val = objects

# all the objects.
ret_val = objects

# everything.
ret_val = objects

# everything except the sponge.
ret_val = [name for name in objects if name != 'sponge']

# the leftmost object.
ret_val = min(objects, key=lambda name: get_obj_pos(name)[0])

# the rightmost object.
ret_val = max(objects, key=lambda name: get_obj_pos(name)[0])

# the object closest to you.
ret_val = min(objects, key=lambda name: np.linalg.norm(get_obj_pos(name)[:2] - get_robot_pos()[:2]))

# the object farthest from you.
ret_val = max(objects, key=lambda name: np.linalg.norm(get_obj_pos(name)[:2] - get_robot_pos()[:2]))

# the object closest to the cup.
others = [name for name in objects if name != 'cup']
ret_val = min(others, key=lambda name: np.linalg.norm(get_obj_pos(name) - get_obj_pos('cup')))

# the object farthest from the cup.
others = [name for name in objects if name != 'cup']
ret_val = max(others, key=lambda name: np.linalg.norm(get_obj_pos(name) - get_obj_pos('cup')))
