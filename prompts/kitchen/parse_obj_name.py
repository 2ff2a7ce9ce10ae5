# /// cap
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# ///
import numpy as np
from robot import get_obj_pos, get_robot_pos

#: coke can = can of coke, coke, cola, can of cola, soda, can of soda, soda can
#: water bottle = bottle of water, water
#: chip bag = bag of chips, chips bag, chips, crisps, bag of crisps, potato chips
#: cracker box = box of crackers, crackers, crackers box
#: juice box = box of juice, juice, carton of juice, juice carton
#: soap bottle = bottle of soap, soap, dish soap
#: candy bar = chocolate bar, candy, bar of chocolate, chocolate
#: cup = mug
#: bowl = dish
#: fruit = fruits, pieces of fruit
#: drinks = beverages, things to drink, something to drink
#: snacks = things to eat, something to eat
#: drink = beverage
#: closest = nearest
#: farthest = furthest, most distant, farthest away
#: leftmost = left most
#: rightmost = right most
#: you = the robot
#: all the = all of the, every one of the, every single
#: objects = things, items, stuff

objects = ['apple', 'banana', 'coke can', 'bowl', 'water bottle']
# the apple.
ret_val = 'apple'

# a coke can.
ret_val = 'coke can'

# the bowl.
ret_val = 'bowl'

# the apple and the banana.
ret_val = ['apple', 'banana']

# the fruit.
ret_val = [name for name in objects if name in ['apple', 'banana', 'orange', 'lemon']]

# all the fruit.
ret_val = [name for name in objects if name in ['apple', 'banana', 'orange', 'lemon']]

# the drinks.
ret_val = [name for name in objects if name in ['coke can', 'water bottle', 'juice box']]

# all the drinks.
ret_val = [name for name in objects if name in ['coke can', 'water bottle', 'juice box']]

# a drink.
ret_val = [name for name in objects if name in ['coke can', 'water bottle', 'juice box']][0]

objects = ['banana', 'chip bag', 'cracker box', 'cup', 'sponge', 'orange']
# the snacks.
ret_val = [name for name in objects if name in ['chip bag', 'cracker box', 'candy bar']]

# all the snacks.
ret_val = [name for name in objects if name in ['chip bag', 'cracker box', 'candy bar']]

# a snack.
ret_val = [name for name in objects if name in ['chip bag', 'cracker box', 'candy bar']][0]

# a fruit.
ret_val = [name for name in objects if name in ['apple', 'banana', 'orange', 'lemon']][0]

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
