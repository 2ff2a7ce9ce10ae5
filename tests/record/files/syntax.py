for name in get_obj_names()
    say(name)
