put_first_on_second('red block', 'blue bowl')
say(f'it is at {np.round(get_obj_pos("red block"), 2).tolist()}')
