//! Numbers formatted for people.

/// 15000 as 15,000; small values with as many decimals as they need.
pub fn grouped(value: f64) -> String {
    let decimals = match value.abs() {
        0.0.. if value.fract() == 0.0 => 0,
        0.0..1.0 => 2,
        1.0..100.0 => 1,
        _ => 0,
    };
    let digits = format!("{:.decimals$}", value.abs());
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let negative = value < 0.0 && digits.contains(|digit| ('1'..='9').contains(&digit));
    let mut out = String::from(if negative { "-" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// A round step, and the round value at or above `top`, for about `lines` lines.
pub(crate) fn scale(top: f64, lines: f64) -> (f64, f64) {
    if top <= 0.0 || !top.is_finite() {
        return (1.0, 1.0);
    }
    let rough = top / lines;
    let ten = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|by| by * ten).find(|step| *step >= rough).unwrap_or(ten);
    (step, (top / step).ceil() * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round_and_reach_the_top() {
        for (top, expected) in
            [(15_000.0, (5000.0, 15_000.0)), (7.3, (2.0, 8.0)), (0.0, (1.0, 1.0)), (f64::NAN, (1.0, 1.0))]
        {
            assert_eq!(scale(top, 4.0), expected);
        }
    }

    #[test]
    fn numbers_read_well() {
        let all = [
            (0.0, "0"),
            (0.126, "0.13"),
            (2.5, "2.5"),
            (56.25, "56.2"),
            (999.0, "999"),
            (15_000.4, "15,000"),
            (-1_234_567.0, "-1,234,567"),
            (-0.001, "0.00"),
        ];
        for (value, text) in all {
            assert_eq!(grouped(value), text);
        }
    }
}
