"""Views of a release that can be searched and put in order, for pages that draw them anew each time."""

from veil.report.views.bars import Bars
from veil.report.views.flows import Flows
from veil.report.views.heat_map import HeatMap
from veil.report.views.lines import Lines
from veil.report.views.network import Network
from veil.report.views.routes import Routes
from veil.report.views.view import Look, View

__all__ = ["Bars", "Flows", "HeatMap", "Lines", "Look", "Network", "Routes", "View"]
