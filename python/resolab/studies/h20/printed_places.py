"""The follow-up's differences between vantage points, for comparisons of boxes with the internet.

For: the study's `PRINTED_PLACES`. Not for: the numbers (`paper_numbers`).
"""

from resolab.studies.h20.paper_numbers import follow_up_difference
from resolab.studies.printed_places import PrintedPlaces

PRINTED_PLACES = PrintedPlaces("DoH in the follow-up of Hounsel et al. (2021), and its pings", follow_up_difference)
