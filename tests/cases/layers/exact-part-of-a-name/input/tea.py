x = cup.get_teas(2)
