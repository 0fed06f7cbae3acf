//! Bars in groups, as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;

/// The area to draw in.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Drawing fails if the file cannot be written.
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The bars of one name and colour, one in each group.
pub(crate) struct Series<'a> {
    pub(crate) name: &'a str,
    pub(crate) color: RGBColor,
    pub(crate) heights: Vec<f64>,
}

/// A chart of groups of bars.
pub(crate) struct Bars<'a> {
    pub(crate) caption: String,
    pub(crate) groups: Vec<String>,
    pub(crate) series: Vec<Series<'a>>,
    /// The height of the chart; higher bars are cut.
    pub(crate) highest: f64,
    /// Decimals of the labels on the vertical axis.
    pub(crate) digits: usize,
    /// A height to mark.
    pub(crate) mark: Option<f64>,
}

/// The fraction of a group's width that its bars take.
const FILLED: f64 = 0.72;

impl Bars<'_> {
    /// Draws the chart.
    pub(crate) fn draw(&self, area: &Area<'_>) -> Drawn {
        let width = self.groups.len().max(1) as f64;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.caption, ("sans-serif", 17))
            .margin(10)
            .x_label_area_size(30)
            .y_label_area_size(50)
            .build_cartesian_2d(0.0..width, 0.0..self.highest)?;
        let named = self.groups.iter().any(|name| !name.is_empty());
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(if named { 2 * self.groups.len() + 1 } else { 0 })
            // The label under the middle of each group is its name.
            .x_label_formatter(&|x| {
                let at = (x - 0.5).round();
                let middle = (x - 0.5 - at).abs() < 0.01 && at >= 0.0;
                self.groups.get(at as usize).filter(|_| middle).cloned().unwrap_or_default()
            })
            .y_label_formatter(&|y| format!("{y:.*}", self.digits))
            .draw()?;
        if let Some(mark) = self.mark {
            chart.draw_series(LineSeries::new([(0.0, mark), (width, mark)], BLACK.stroke_width(1)))?;
        }
        let step = FILLED / self.series.len().max(1) as f64;
        for (place, Series { name, color, heights }) in self.series.iter().enumerate() {
            let bars = heights.iter().enumerate().map(|(group, height)| {
                let left = group as f64 + (1.0 - FILLED) / 2.0 + step * place as f64;
                Rectangle::new([(left, 0.0), (left + step * 0.92, height.min(self.highest))], color.filled())
            });
            let color = *color;
            chart
                .draw_series(bars)?
                .label(*name)
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
        }
        if self.series.len() > 1 {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperLeft)
                .background_style(WHITE.mix(0.85))
                .draw()?;
        }
        Ok(())
    }
}
