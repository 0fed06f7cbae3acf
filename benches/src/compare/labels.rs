//! Placement of the labels in a plot: next to their points, not over other labels or points, and if possible not over lines.

/// A position in the plot in pixels, y downwards.
pub(super) type Point = (f64, f64);

/// A rectangle in the plot in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    /// The square around a point.
    pub(super) fn around((x, y): Point, radius: f64) -> Self {
        Self { left: x - radius, top: y - radius, width: 2.0 * radius, height: 2.0 * radius }
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right()
            && other.left < self.right()
            && self.top < other.bottom()
            && other.top < self.bottom()
    }

    fn within(&self, area: &Self) -> bool {
        self.left >= area.left
            && self.right() <= area.right()
            && self.top >= area.top
            && self.bottom() <= area.bottom()
    }

    /// The point of the rectangle nearest to another point.
    pub(super) fn nearest(&self, (x, y): Point) -> Point {
        (x.clamp(self.left, self.right()), y.clamp(self.top, self.bottom()))
    }

    /// Whether a straight line crosses the rectangle, sampled every few pixels, which is sufficient for legibility.
    fn is_crossed(&self, (from, to): (Point, Point)) -> bool {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = (dx.hypot(dy) / 3.0).ceil().max(1.0);
        (0..=steps as u32).map(|i| f64::from(i) / steps).any(|t| {
            let dot = Self::around((from.0 + t * dx, from.1 + t * dy), 1.0);
            self.overlaps(&dot)
        })
    }
}

/// Directions from a point to its label, best first, and distances, nearest first.
const DIRECTIONS: [Point; 8] =
    [(1.0, 0.0), (-1.0, 0.0), (1.0, -0.7), (1.0, 0.7), (-1.0, -0.7), (-1.0, 0.7), (0.0, -1.0), (0.0, 1.0)];
const DISTANCES: [f64; 7] = [4.0, 10.0, 18.0, 30.0, 45.0, 65.0, 90.0];

/// A position within `area` for the label of each point, given the labels' widths and common height, the points' radius, and lines that should not be
/// covered.
pub(super) fn place(
    points: &[(Point, f64)],
    height: f64,
    radius: f64,
    area: &Rect,
    lines: &[(Point, Point)],
) -> Vec<Rect> {
    let markers: Vec<_> = points.iter().map(|(point, _)| Rect::around(*point, radius + 1.0)).collect();
    let mut placed: Vec<Rect> = Vec::new();
    let mut leaders: Vec<(Point, Point)> = Vec::new();
    for &(point, width) in points {
        let mut best = (f64::INFINITY, Rect::around(point, radius));
        for (near, distance) in DISTANCES.iter().enumerate() {
            for (order, direction) in DIRECTIONS.iter().enumerate() {
                let rect = beside(point, *direction, radius + distance, width, height);
                let leader = (point, rect.nearest(point));
                let taken = markers.iter().chain(&placed).filter(|other| rect.overlaps(other)).count();
                let crossed = lines.iter().chain(&leaders).filter(|line| rect.is_crossed(**line)).count();
                let through = placed.iter().chain(&markers).filter(|other| other.is_crossed(leader)).count();
                let own = 1; // each leader starts in the point's own marker
                let cost = near as f64
                    + order as f64 / 8.0
                    + crossed as f64 * 2.5
                    + (through - own.min(through)) as f64 * 4.0
                    + taken as f64 * 1e3
                    + if rect.within(area) { 0.0 } else { 1e4 };
                if cost < best.0 {
                    best = (cost, rect);
                }
            }
        }
        leaders.push((point, best.1.nearest(point)));
        placed.push(best.1);
    }
    placed
}

/// The rectangle of this size in this direction and at this distance from a point.
fn beside((x, y): Point, (dx, dy): Point, distance: f64, width: f64, height: f64) -> Rect {
    let left = match dx {
        0.0 => x - width / 2.0,
        dx if dx > 0.0 => x + distance,
        _ => x - distance - width,
    };
    let top = y - height / 2.0 + dy * (distance + height / 2.0);
    Rect { left, top, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crowded_labels_do_not_overlap() {
        let area = Rect { left: 0.0, top: 0.0, width: 500.0, height: 400.0 };
        let at = |i: u32| (60.0 + f64::from(i % 4) * 9.0, 200.0 + f64::from(i / 4) * 11.0);
        let points: Vec<_> = (0..14).map(|i| (at(i), 70.0)).collect();
        let rects = place(&points, 14.0, 4.0, &area, &[]);
        for (i, rect) in rects.iter().enumerate() {
            assert!(rect.within(&area), "{i}");
            assert!(!rects[..i].iter().any(|other| rect.overlaps(other)), "{i}");
            assert!(!points.iter().any(|(point, _)| rect.overlaps(&Rect::around(*point, 4.0))), "{i}");
        }
    }

    #[test]
    fn a_lonely_label_is_on_the_right_and_moves_for_the_edge_or_a_line() {
        let area = Rect { left: 0.0, top: 0.0, width: 200.0, height: 100.0 };
        let at = |point, lines: &[(Point, Point)]| place(&[(point, 50.0)], 10.0, 4.0, &area, lines)[0];
        assert!(at((60.0, 50.0), &[]).left > 60.0);
        assert!(at((190.0, 50.0), &[]).right() < 190.0);
        assert!(at((60.0, 50.0), &[((60.0, 50.0), (150.0, 50.0))]).right() < 60.0);
    }
}
