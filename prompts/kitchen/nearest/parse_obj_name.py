#: coke can = can of coke, coke, cola, can of cola, soda, can of soda, soda can
#: water bottle = bottle of water, water
#: chip bag = bag of chips, chips bag, chips, crisps, bag of crisps, potato chips
#: cracker box = box of crackers, crackers, crackers box
#: juice box = box of juice, juice, carton of juice, juice carton
#: soap bottle = bottle of soap, soap, dish soap
#: candy bar = chocolate bar, candy, bar of chocolate, chocolate
#: cup = mug
#: bowl = fruit bowl
#: fruit = fruits, pieces of fruit
#: drinks = beverages, things to drink, something to drink
#: snacks = things to eat, something to eat
#: drink = beverage
#: closest = nearest
#: farthest = furthest, most distant, farthest away
#: leftmost = left most
#: smallest = littlest, tiniest
#: largest = biggest
#: plates = dishes
#: rightmost = right most
#: you = the robot
#: all the = all of the, every one of the, every single
#: objects = things, items, stuff

objects = ['apple', 'lime', 'cup', 'red plate', 'green plate']
# the largest fruit.
fruit = [name for name in objects if name in ['apple', 'green apple', 'banana', 'orange', 'lemon', 'lime', 'pear', 'peach', 'plum', 'grapefruit', 'strawberry']]
ret_val = max(fruit, key=lambda name: np.prod(get_obj_size(name)), default=None)

# the smallest object.
ret_val = min(objects, key=lambda name: np.prod(get_obj_size(name)), default=None)
