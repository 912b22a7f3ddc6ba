x = cup.fetch_teas(2)
