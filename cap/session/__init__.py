"""Sessions: instructions one after the other, what is kept between them."""
