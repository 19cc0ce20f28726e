"""All campaigns by name."""

from tests.fuzz import documents, faults, in_the_window, kernels, learning, lines, pages, programs, reading, records, writers
from tests.fuzz.campaign import Campaign

CAMPAIGNS: dict[str, Campaign] = {
    name: campaign
    for module in (kernels, reading, records, documents, learning, lines, writers, pages, programs, faults, in_the_window)
    for name, campaign in module.CAMPAIGNS.items()
}
