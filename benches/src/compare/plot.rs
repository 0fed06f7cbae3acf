//! Pareto plots: ratio against speed, a panel for each direction, a file for each kind of data.

use super::labels::{Point, Rect, place};
use super::report::{Figures, Line, Report};
use crate::Result;
use crate::codecs::Role;
use crate::corpus::at;
use crate::element::Element;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::cmp::Ordering;
use std::fs;
use std::path::Path;

const SIZE: (u32, u32) = (1280, 640);
const OURS: RGBColor = RGBColor(0, 90, 181);
const PEER: RGBColor = RGBColor(204, 85, 0);
const COPY: RGBColor = RGBColor(90, 90, 90);
const FRONT: RGBColor = RGBColor(170, 170, 170);
/// The size of markers and of text, in pixels.
const RADIUS: i32 = 5;
const TEXT: i32 = 14;
/// An upper estimate of a character's width relative to its height.
const CHARACTER: f64 = 0.58;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Writes `pareto-f64.svg` etc. to a folder, from the means of a report.
///
/// # Errors
/// If a plot cannot be drawn or written.
pub fn plot(report: &Report, folder: &Path, subtitle: &str) -> Result<()> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    for element in Element::ALL {
        let means: Vec<_> = report.means.iter().filter(|line| line.element == element).collect();
        let files = report.lines.iter().filter(|line| line.element == element);
        let mut files: Vec<_> = files.map(|line| &line.file).collect();
        files.dedup();
        if means.is_empty() {
            continue;
        }
        let mut svg = String::new();
        draw(&mut svg, &means, &title(element, files.len()), subtitle)?;
        let path = folder.join(format!("pareto-{}.svg", element.name()));
        fs::write(&path, svg).map_err(at(&path))?;
    }
    Ok(())
}

fn title(element: Element, files: usize) -> String {
    let of = if files == 1 { "one file".into() } else { format!("geometric means over {files} files") };
    format!("Lossless compression of MPI messages, {}: {of}", element.name())
}

fn draw(svg: &mut String, means: &[&Line], title: &str, subtitle: &str) -> Result<()> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (head, body) = root.split_vertically(64);
    head.draw(&Text::new(title, (16, 12), ("sans-serif", 20).into_font().color(&BLACK)))?;
    head.draw(&Text::new(subtitle, (16, 38), ("sans-serif", TEXT).into_font().color(&COPY)))?;
    legend(&head)?;
    let (left, right) = body.split_horizontally(SIZE.0 / 2);
    panel(&left, means, "encoding", |figures| figures.encode)?;
    panel(&right, means, "decoding", |figures| figures.decode)?;
    root.present()?;
    Ok(())
}

fn legend(head: &Area<'_>) -> Result<()> {
    let mut x = SIZE.0 as i32 - 330;
    for (role, name) in [(Role::Codec, "mpress"), (Role::Peer, "peer"), (Role::Baseline, "memcpy")] {
        marker(head, role, (x, 46))?;
        head.draw(&Text::new(name, (x + 10, 38), text(BLACK)))?;
        x += 80;
    }
    head.draw(&PathElement::new([(x - 8, 46), (x + 8, 46)], FRONT.stroke_width(2)))?;
    head.draw(&Text::new("Pareto front", (x + 14, 38), text(BLACK)))?;
    Ok(())
}

fn panel(area: &Area<'_>, means: &[&Line], direction: &str, speed: fn(&Figures) -> f64) -> Result<()> {
    let points: Vec<_> = means.iter().map(|line| (line.figures.ratio, speed(&line.figures))).collect();
    let (least, most) = range(points.iter().map(|point| point.0));
    let (slowest, fastest) = range(points.iter().map(|point| point.1));
    let margin = ((most - least) * 0.08).max(0.01);
    let (left, right) = (least - margin, most + margin);
    // Enough room for at least one tick.
    let (bottom, top) = (slowest / 1.6, fastest * 1.6);

    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(left..right, (bottom..top).log_scale().with_key_points(ticks(bottom, top)))?;
    chart
        .configure_mesh()
        .x_desc("ratio (raw bytes / wire bytes)")
        .y_desc(format!("{direction} speed (GB/s of raw bytes)"))
        .x_label_formatter(&|ratio| format!("{ratio:.2}"))
        .y_label_formatter(&|speed| tick(*speed))
        .axis_desc_style(("sans-serif", 15))
        .label_style(("sans-serif", 13))
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(232, 232, 232))
        .draw()?;

    let corners = front(&points, (left, bottom));
    chart.draw_series(LineSeries::new(corners.iter().copied(), FRONT.stroke_width(2)))?;

    // From here on in pixels of the panel.
    let origin = area.get_base_pixel();
    let pixel = |point: &Point| {
        let (x, y) = chart.backend_coord(point);
        (x - origin.0, y - origin.1)
    };
    let (top_left, bottom_right) = (float(pixel(&(left, top))), float(pixel(&(right, bottom))));
    let inside = Rect {
        left: top_left.0 + 2.0,
        top: top_left.1 + 2.0,
        width: bottom_right.0 - top_left.0 - 4.0,
        height: bottom_right.1 - top_left.1 - 4.0,
    };
    let lines: Vec<_> =
        corners.windows(2).map(|pair| (float(pixel(&pair[0])), float(pixel(&pair[1])))).collect();
    let places: Vec<_> = points.iter().map(pixel).collect();
    named_markers(area, means, &places, &inside, &lines)
}

/// A marker and a name for each codec at these pixels; names stay within a part of the area and off the lines.
fn named_markers(
    area: &Area<'_>,
    means: &[&Line],
    places: &[(i32, i32)],
    inside: &Rect,
    lines: &[(Point, Point)],
) -> Result<()> {
    let width = |line: &Line| line.subject.name.len() as f64 * f64::from(TEXT) * CHARACTER;
    let wanted: Vec<_> = places.iter().zip(means).map(|(place, line)| (float(*place), width(line))).collect();
    let labels = place(&wanted, f64::from(TEXT), f64::from(RADIUS), inside, lines);
    for ((line, place), label) in means.iter().zip(places).zip(&labels) {
        let (anchor, end) = anchor(label, float(*place));
        if (end.0 - place.0).abs().max((end.1 - place.1).abs()) > 2 * RADIUS {
            area.draw(&PathElement::new([*place, end], colour(line.subject.role).mix(0.5)))?;
        }
        marker(area, line.subject.role, *place)?;
        area.draw(&Text::new(line.subject.name, end, text(colour(line.subject.role)).pos(anchor)))?;
    }
    Ok(())
}

fn float((x, y): (i32, i32)) -> Point {
    (f64::from(x), f64::from(y))
}

/// The corners of the front's staircase: the points that are not dominated, from the greatest ratio to the greatest speed, and its ends on the axes.
fn front(points: &[Point], (left, bottom): Point) -> Vec<Point> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let mut corners = Vec::new();
    let mut speed = bottom;
    for point in sorted {
        if point.1 > speed {
            corners.extend([(point.0, speed), point]);
            speed = point.1;
        }
    }
    corners.push((left, speed));
    corners
}

fn range(values: impl Iterator<Item = f64>) -> Point {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)))
}

/// The side of a label that faces its point, and its position: for any width of the rendered text, it begins or ends there.
fn anchor(label: &Rect, point: Point) -> (Pos, (i32, i32)) {
    let x = label.nearest(point).0;
    let side = match x.total_cmp(&point.0) {
        Ordering::Greater => HPos::Left,
        Ordering::Less => HPos::Right,
        Ordering::Equal => HPos::Center,
    };
    (Pos::new(side, VPos::Center), (x as i32, (label.top + label.height / 2.0) as i32))
}

/// 1, 2 and 5 of each decade.
fn ticks(bottom: f64, top: f64) -> Vec<f64> {
    let decades = bottom.log10().floor() as i32..=top.log10().floor() as i32;
    let all = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(decade)));
    all.filter(|tick| (bottom..top).contains(tick)).collect()
}

fn tick(speed: f64) -> String {
    let digits = (-speed.log10().floor()).max(0.0) as usize;
    format!("{speed:.digits$}")
}

fn colour(role: Role) -> RGBColor {
    match role {
        Role::Codec | Role::Variant => OURS,
        Role::Peer => PEER,
        Role::Baseline => COPY,
    }
}

/// Roles differ in shape as well as in colour.
fn marker(area: &Area<'_>, role: Role, (x, y): (i32, i32)) -> Result<()> {
    let style = colour(role).filled();
    match role {
        Role::Codec => area.draw(&Circle::new((x, y), RADIUS, style))?,
        Role::Variant => area.draw(&Circle::new((x, y), RADIUS, colour(role).stroke_width(2)))?,
        Role::Peer => area.draw(&TriangleMarker::new((x, y), RADIUS + 1, style))?,
        Role::Baseline => area.draw(&Cross::new((x, y), RADIUS, colour(role).stroke_width(2)))?,
    }
    Ok(())
}

fn text(colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", TEXT).into_font().color(&colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_is_not_dominated() {
        let points = [(1.0, 9.0), (1.5, 3.0), (1.2, 2.0), (2.0, 1.0)];
        let corners = front(&points, (0.9, 0.5));
        assert_eq!(
            corners,
            [(2.0, 0.5), (2.0, 1.0), (1.5, 1.0), (1.5, 3.0), (1.0, 3.0), (1.0, 9.0), (0.9, 9.0)]
        );
    }

    #[test]
    fn ticks_have_the_digits_they_need() {
        assert_eq!([0.05, 0.1, 1.0, 20.0].map(tick), ["0.05", "0.1", "1", "20"]);
    }
}
