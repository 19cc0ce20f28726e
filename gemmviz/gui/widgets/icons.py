"""The transport icons in the colour of the theme: triangles and bars in a unit square."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap, QPolygonF

_RIGHT = ((0.0, 0.0), (1.0, 0.5), (0.0, 1.0))
_LEFT = ((1.0, 0.0), (0.0, 0.5), (1.0, 1.0))
_BAR = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
# name -> shapes, each with the box (x, y, width, height) that it fills
_ICONS = {
    "first": ((_BAR, (0.1, 0.2, 0.1, 0.6)), (_LEFT, (0.28, 0.2, 0.55, 0.6))),
    "previous phase": ((_LEFT, (0.08, 0.22, 0.4, 0.56)), (_LEFT, (0.48, 0.22, 0.4, 0.56))),
    "back": ((_LEFT, (0.2, 0.2, 0.32, 0.6)), (_BAR, (0.62, 0.2, 0.14, 0.6))),
    "play": ((_RIGHT, (0.22, 0.12, 0.62, 0.76)),),
    "pause": ((_BAR, (0.22, 0.15, 0.2, 0.7)), (_BAR, (0.58, 0.15, 0.2, 0.7))),
    "forward": ((_BAR, (0.24, 0.2, 0.14, 0.6)), (_RIGHT, (0.48, 0.2, 0.32, 0.6))),
    "next phase": ((_RIGHT, (0.12, 0.22, 0.4, 0.56)), (_RIGHT, (0.52, 0.22, 0.4, 0.56))),
    "last": ((_RIGHT, (0.17, 0.2, 0.55, 0.6)), (_BAR, (0.8, 0.2, 0.1, 0.6))),
    "reverse": ((_LEFT, (0.16, 0.12, 0.62, 0.76)),),
}


def transport_icon(name: str, colour: str) -> QIcon:
    side = 48
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    for shape, box in _ICONS[name]:
        area = QRectF(*(side * part for part in box))
        corners = [QPointF(area.x() + px * area.width(), area.y() + py * area.height()) for px, py in shape]
        painter.drawPolygon(QPolygonF(corners))
    painter.end()
    return QIcon(pixmap)
