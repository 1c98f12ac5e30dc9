//! Numbers and letters have the bits that Java gives them.

use super::*;

#[test]
fn numbers_and_letters_are_those_of_java() {
    check([
        ("(byte) 200", json!(-56)),
        ("(int) 3000000000L", json!(-1_294_967_296)),
        (
            "int x = 2147483647; x++; return x",
            json!(-2_147_483_648_i64),
        ),
        ("(char) 66", json!("B")),
        (
            "(int) 'abc'.charAt(0) + ('abc'.charAt(1) - 'a'.charAt(0))",
            json!(98),
        ),
        ("'a' + 'b'.charAt(0)", json!("ab")),
        (
            "char c = (char) 'b'; return c == 98 && c >= (char) 'a'",
            json!(true),
        ),
        (
            "Character.isDigit('1'.charAt(0)) && !Character.isLetter((char) '1')",
            json!(true),
        ),
        (
            "Integer.toHexString(255) + Integer.toString(255, 16) + Integer.toBinaryString(5)",
            json!("ffff101"),
        ),
        ("Math.floorMod(-7, 2) + Math.floorDiv(-7, 2)", json!(-3)),
        (
            "1e10 + '' + 7.0 / 0 + 1.0E-5 + 100.0",
            json!("1.0E10Infinity1.0E-5100.0"),
        ),
        ("017 + 0x10", json!(31)),
        ("-9223372036854775808L / -1", json!(i64::MIN)),
        ("Character.digit((char) 'f', 16)", json!(15)),
        ("Integer.parseUnsignedInt('4')", json!(4)),
        ("int h = 1; h = h * 2147483647 * 3; h", json!(2_147_483_645)),
        ("0xFFFFFFFF + 1", json!(0)),
        ("Math.max(1, 2)", json!(2.0)),
        ("Integer.max(1, 2)", json!(2)),
        ("'' + (1 > 2 ? Math.floor(1.5) : 0)", json!("0.0")),
        ("'' + (1 > 2 ? 1 : -2.5) + (2 > 1 ? 1 : 2L)", json!("-2.51")),
    ]);
}

#[test]
fn whole_numbers_have_the_bits_that_java_gives_them() {
    check([
        ("2147483647 + 1", json!(-2_147_483_648_i64)),
        ("2147483647L + 1", json!(2_147_483_648_i64)),
        ("-2147483648 - 1", json!(2_147_483_647)),
        ("long x = 1000000 * 1000000; return x", json!(-727_379_968)),
        (
            "long x = 1000000L * 1000000; return x",
            json!(1_000_000_000_000_i64),
        ),
        (
            "int x = 2147483647; x += 1; return x",
            json!(-2_147_483_648_i64),
        ),
        ("int x = 2147483647; return x + x", json!(-2)),
        (
            "int x = -2147483648; int y = -x; return y",
            json!(-2_147_483_648_i64),
        ),
        (
            "int x = -2147483648; int y = x / -1; return y",
            json!(-2_147_483_648_i64),
        ),
        (
            "int f(int n) { if (n < 2) { return 1 } return n * f(n - 1) } return f(13)",
            json!(1_932_053_504),
        ),
        ("1 << 33", json!(2)),
        ("1L << 33", json!(8_589_934_592_i64)),
        ("-1 >>> 28", json!(15)),
        ("-1L >>> 60", json!(15)),
        ("4 >> 33", json!(2)),
        (
            "int h = 0; for (int i = 0; i < 20; i++) { h = 31 * h + i } return h",
            json!(1_804_121_098),
        ),
        ("'polygenelubricants'.hashCode() - 1", json!(2_147_483_647)),
        // What the text does not tell has 64.
        (
            "def x = 2147483647L; return x + 1",
            json!(2_147_483_648_i64),
        ),
        ("doc['price'].value + 2147483647", json!(2_147_483_654_i64)),
    ]);
    check_fails([
        ("int x = 3000000000L; return x", ScriptErrorKind::Cast),
        ("int x = 0; return 1 / x", ScriptErrorKind::Arithmetic),
    ]);
    let refused = made("1 + 3000000000", ScriptLanguage::Painless).unwrap_err();
    assert!(
        refused
            .reason
            .starts_with("Invalid int constant [3000000000]")
    );
    let expression = made("3000000000 + 1", ScriptLanguage::Expression);
    assert_eq!(expression, Ok(json!(3_000_000_001.0)));
}

#[test]
fn bits_of_numbers_are_those_of_java() {
    check([
        ("Integer.reverse(1)", json!(-2_147_483_648_i64)),
        ("Integer.reverseBytes(1)", json!(16_777_216)),
        ("Integer.highestOneBit(100)", json!(64)),
        ("Integer.lowestOneBit(100)", json!(4)),
        ("Integer.numberOfLeadingZeros(1)", json!(31)),
        ("Integer.numberOfTrailingZeros(8)", json!(3)),
        ("Integer.rotateLeft(1, 4)", json!(16)),
        ("Integer.rotateRight(1, 4)", json!(268_435_456)),
        ("Integer.compareUnsigned(1, -1)", json!(-1)),
        ("Integer.divideUnsigned(-1, 2)", json!(2_147_483_647)),
        ("Integer.remainderUnsigned(-1, 7)", json!(3)),
        ("Integer.toUnsignedString(-1)", json!("4294967295")),
        ("Integer.toUnsignedLong(-1)", json!(4_294_967_295_i64)),
        ("Integer.toOctalString(8)", json!("10")),
        ("Integer.decode('0x10')", json!(16)),
        ("Long.decode('-0x8000000000000000')", json!(i64::MIN)),
        (
            "try { return Long.decode('--9223372036854775808') } catch (NumberFormatException e) { return 7 }",
            json!(7),
        ),
        (
            "Byte.compare(params.factor, Long.MIN_VALUE) > 0",
            json!(true),
        ),
        ("Long.numberOfLeadingZeros(1L)", json!(63)),
        ("Long.hashCode(5000000000L)", json!(705_032_705)),
        ("Long.reverse(1L)", json!(i64::MIN)),
        ("Long.toUnsignedString(-1L)", json!("18446744073709551615")),
        (
            "Double.doubleToLongBits(1.0)",
            json!(4_607_182_418_800_017_408_i64),
        ),
        ("Double.longBitsToDouble(4607182418800017408L)", json!(1.0)),
        ("Double.hashCode(1.5)", json!(1_073_217_536)),
        ("Double.isFinite(1.0)", json!(true)),
        ("Float.floatToIntBits(1.0f)", json!(1_065_353_216)),
        ("Boolean.logicalXor(true, false)", json!(true)),
        ("Boolean.compare(true, false)", json!(1)),
        ("Boolean.hashCode(true)", json!(1231)),
        ("Byte.toUnsignedInt((byte) -1)", json!(255)),
        ("Short.toUnsignedInt((short) -1)", json!(65_535)),
        ("Math.copySign(2.0, -1.0)", json!(-2.0)),
        ("Math.IEEEremainder(5, 3)", json!(-1.0)),
        ("Math.nextUp(1.0)", json!(1.000_000_000_000_000_2)),
        ("Math.ulp(1.0)", json!(2.220_446_049_250_313e-16)),
        ("Math.scalb(1.5, 2)", json!(6.0)),
        ("['a': 1].hashCode()", json!(96)),
        ("[1, 2, 3].hashCode()", json!(30_817)),
        ("def x = 5; return x.hashCode()", json!(5)),
    ]);
}
