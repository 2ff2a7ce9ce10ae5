put_first_on_second('red block', 'blue bowl')
put_first_on_second('zebra', 'blue bowl')
