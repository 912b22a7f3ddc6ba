say('x')
