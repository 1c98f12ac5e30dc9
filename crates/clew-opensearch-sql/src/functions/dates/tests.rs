use serde_json::json;

use crate::functions::answer;

#[test]
fn dates_are_what_opensearchs_documentation_says() {
    answer([
        ("date", json!(["2020-08-26 13:49:00"]), json!("2020-08-26")),
        (
            "date_add",
            json!(["2020-08-26", "1 hour"]),
            json!("2020-08-26 01:00:00"),
        ),
        ("adddate", json!(["2020-08-26", 1]), json!("2020-08-27")),
        (
            "adddate",
            json!(["2020-08-26 01:01:01", 1]),
            json!("2020-08-27 01:01:01"),
        ),
        (
            "date_sub",
            json!(["2008-01-02", "31 day"]),
            json!("2007-12-02 00:00:00"),
        ),
        ("subdate", json!(["2020-08-26", 1]), json!("2020-08-25")),
        (
            "datediff",
            json!(["2000-01-02 00:00:00", "2000-01-01 23:59:59"]),
            json!(1),
        ),
        ("dayname", json!(["2020-08-26"]), json!("Wednesday")),
        ("dayofweek", json!(["2020-08-26"]), json!(4)),
        ("weekday", json!(["2020-08-26"]), json!(2)),
        ("dayofyear", json!(["2020-08-26"]), json!(239)),
        ("month", json!(["2020-08-26"]), json!(8)),
        ("monthname", json!(["2020-08-26"]), json!("August")),
        ("quarter", json!(["2020-08-26"]), json!(3)),
        ("week", json!(["2008-02-20"]), json!(7)),
        ("yearweek", json!(["2020-08-26"]), json!(202_034)),
        ("yearweek", json!(["2019-01-05", 1]), json!(201_901)),
    ]);
}

#[test]
fn days_are_made_and_counted_as_opensearchs_documentation_says() {
    answer([
        ("last_day", json!(["2023-02-06"]), json!("2023-02-28")),
        ("makedate", json!([1945, 5.9]), json!("1945-01-06")),
        ("makedate", json!([1984, 1984]), json!("1989-06-06")),
        ("from_days", json!([733_687]), json!("2008-10-07")),
        ("to_days", json!(["2008-10-07"]), json!(733_687)),
        (
            "to_seconds",
            json!(["2008-10-07"]),
            json!(63_390_556_800_i64),
        ),
        (
            "timestampadd",
            json!(["DAY", 17, "2000-01-01 00:00:00"]),
            json!("2000-01-18 00:00:00"),
        ),
        (
            "timestampdiff",
            json!(["YEAR", "1997-01-01 00:00:00", "2001-03-06 00:00:00"]),
            json!(4),
        ),
        (
            "extract",
            json!(["YEAR_MONTH", "2023-02-07 10:11:12"]),
            json!(202_302),
        ),
        (
            "date_format",
            json!(["1998-01-31 13:14:15.012345", "%T.%f"]),
            json!("13:14:15.012345"),
        ),
        (
            "str_to_date",
            json!(["01,5,2013", "%d,%m,%Y"]),
            json!("2013-05-01 00:00:00"),
        ),
        ("get_format", json!(["date", "USA"]), json!("%m.%d.%Y")),
        (
            "convert_tz",
            json!(["2008-12-25 05:30:00", "+00:00", "+10:00"]),
            json!("2008-12-25 15:30:00"),
        ),
        (
            "convert_tz",
            json!(["2008-12-25 05:30:00", "+00:00", "+15:00"]),
            json!(null),
        ),
        ("period_add", json!([200_801, 2]), json!(200_803)),
        ("period_add", json!([200_801, -12]), json!(200_701)),
        ("period_diff", json!([200_802, 200_703]), json!(11)),
        ("year", json!(["never"]), json!(null)),
    ]);
}

#[test]
fn seconds_of_unix_are_made_and_read_as_opensearchs_documentation_says() {
    answer([
        (
            "from_unixtime",
            json!([1_220_249_547]),
            json!("2008-09-01 06:12:27"),
        ),
        (
            "from_unixtime",
            json!([1_220_249_547, "%T"]),
            json!("06:12:27"),
        ),
        (
            "unix_timestamp",
            json!([20_771_122_143_845_i64]),
            json!(3_404_817_525.0),
        ),
        ("unix_timestamp", json!([700_101]), json!(0.0)),
        (
            "unix_timestamp",
            json!(["2008-10-07 00:00:00"]),
            json!(1_223_337_600.0),
        ),
    ]);
}

#[test]
fn the_last_days_are_days_and_what_lies_beyond_is_null() {
    answer([
        ("year", json!(["1230"]), json!(null)),
        ("year", json!(["9999-12-31"]), json!(9999)),
        ("to_days", json!(["9999-12-31"]), json!(3_652_424)),
        ("to_days", json!(["1969-12-31"]), json!(719_527)),
        ("from_days", json!([i64::MIN]), json!(null)),
        (
            "convert_tz",
            json!(["2008-12-25 05:30:00", "+999999999:00", "+00:00"]),
            json!(null),
        ),
    ]);
}
