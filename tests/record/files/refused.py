import os
for name in get_obj_names():
    put_first_on_second(name, os.getcwd())
