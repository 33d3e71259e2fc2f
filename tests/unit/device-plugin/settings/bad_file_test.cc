// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "settings/load.h"

namespace gpupool::settings {
namespace {

struct Case {
  const char* name;
  std::string yaml;
  const char* error;  // the beginning of it
};

class BadFile : public testing::TestWithParam<Case> {};

TEST_P(BadFile, IsRefusedWithLineAndKey) {
  const auto settings = parse(GetParam().yaml);
  ASSERT_FALSE(settings.has_value());
  EXPECT_EQ(settings.error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_THAT(settings.error().message, testing::StartsWith(GetParam().error));
}

std::string name_of(const testing::TestParamInfo<Case>& one) { return one.param.name; }

std::string v1(const std::string& rest) { return "version: v1\n" + rest; }

INSTANTIATE_TEST_SUITE_P(
    Structure, BadFile,
    testing::Values(
        Case{"Empty", "", "line 1: is empty; a settings file begins with 'version: v1'"},
        Case{"OnlyAComment", "# nothing\n", "line 1: is empty"},
        Case{"NoMapping", "- version: v1\n", "line 1: must be a mapping"},
        Case{"NoVersion", "mig: true\n", "line 1: version: is missing; write 'version: v1'"},
        Case{"OtherVersion", "version: v2\n", "line 1: version: must be v1, not 'v2'"},
        Case{"NullVersion", "version:\n", "line 1: version: has no value"},
        Case{"NoYaml", v1("overrides: [\n"), "line 3: no valid YAML: "},
        Case{"Tab", v1("health:\n\trecoveryProbes: 3\n"), "line 3: no valid YAML: "},
        Case{"TwoDocuments", v1("---\nversion: v1\n"), "line 3: a second YAML document begins"},
        Case{"UnknownKey", v1("deviceSplitcount: 4\n"),
             "line 2: deviceSplitcount: is no known key; known here: "},
        Case{"UnknownNestedKey", v1("health:\n  probes: 3\n"), "line 3: health.probes: is no known key"},
        Case{"KeyTwice", v1("mig: true\n\nmig: true\n"), "line 4: mig: is given twice, first in line 2"},
        Case{"NestedKeyTwice", v1("passing: {environment: true, environment: true}\n"),
             "line 2: passing.environment: is given twice"},
        Case{"Alias", v1("cdiPrefix: &a a/b\n"), "line 2: anchors are not supported"},
        Case{"Tag", v1("mig: !!bool true\n"), "line 2: tags are not supported"},
        Case{"KeyIsAList", v1("[a, b]: c\n"), "line 2: a key must be plain text"},
        Case{"Deep", v1("mig: " + std::string(40, '[') + std::string(40, ']') + "\n"),
             "line 2: is nested too deeply"},
        Case{"VeryDeep", v1("mig: " + std::string(100'000, '[')), "line 2: is nested too deeply"},
        Case{"Huge", v1("# " + std::string(2 << 20, 'x')), "is larger than 1 MiB"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Values, BadFile,
    testing::Values(
        Case{"CountZero", v1("deviceSplitCount: 0\n"),
             "line 2: deviceSplitCount: must be a whole number from 1 to 100, not '0'"},
        Case{"CountTooLarge", v1("deviceSplitCount: 101\n"), "line 2: deviceSplitCount: must be a whole"},
        Case{"CountNegative", v1("deviceSplitCount: -1\n"), "line 2: deviceSplitCount: must be a whole"},
        Case{"CountFraction", v1("deviceSplitCount: 2.5\n"), "line 2: deviceSplitCount: must be a whole"},
        Case{"CountOverflow", v1("deviceSplitCount: 99999999999999999999\n"),
             "line 2: deviceSplitCount: must"},
        Case{"CountQuoted", v1("deviceSplitCount: \"10\"\n"),
             "line 2: deviceSplitCount: is text: write '10' without quotes"},
        Case{"CountList", v1("deviceSplitCount: [10]\n"), "line 2: deviceSplitCount: must be a single value"},
        Case{"CountMissing", v1("deviceSplitCount:\n"), "line 2: deviceSplitCount: has no value"},
        Case{"ScalingZero", v1("deviceMemoryScaling: 0\n"),
             "line 2: deviceMemoryScaling: must be a number above 0"},
        Case{"ScalingZeroDecimals", v1("deviceMemoryScaling: 0.000\n"),
             "line 2: deviceMemoryScaling: must be"},
        Case{"ScalingNegative", v1("deviceCoreScaling: -1\n"), "line 2: deviceCoreScaling: must be a number"},
        Case{"ScalingDecimals", v1("deviceCoreScaling: 1.0001\n"),
             "line 2: deviceCoreScaling: must be a number"},
        Case{"ScalingTooLarge", v1("deviceCoreScaling: 100.001\n"),
             "line 2: deviceCoreScaling: must be a number"},
        Case{"ScalingExponent", v1("deviceCoreScaling: 1e1\n"),
             "line 2: deviceCoreScaling: must be a number"},
        Case{"ScalingInfinite", v1("deviceCoreScaling: .inf\n"),
             "line 2: deviceCoreScaling: must be a number"},
        Case{"ScalingPercent", v1("deviceCoreScaling: 150%\n"),
             "line 2: deviceCoreScaling: must be a number"},
        Case{"ResourceName", v1("resourceName: vgpu\n"),
             "line 2: resourceName: must be an extended resource name of the form domain/name"},
        Case{"Policy", v1("allocationPolicy: binpack\n"),
             "line 2: allocationPolicy: must be pack, spread or distinct, not 'binpack'"},
        Case{"MigWord", v1("mig: yes\n"), "line 2: mig: must be true or false, not 'yes'"},
        Case{"MigText", v1("mig: 'true'\n"), "line 2: mig: is text: write 'true' without quotes"},
        Case{"MigDeviceNodes", v1("mig: true\npassing: {environment: false, deviceNodes: true}\n"),
             "line 2: mig: needs passing.environment, cdiDevices or cdiAnnotations"},
        Case{"NoWayToTheGpu", v1("passing:\n  environment: false\n"),
             "line 3: passing: leaves a container no way"},
        Case{"CdiPrefix", v1("cdiPrefix: gpu\n"),
             "line 2: cdiPrefix: must be a CDI kind of the form vendor/class"},
        Case{"Enforce", v1("enforce: kernel\n"), "line 2: enforce: must be none or library, not 'kernel'"},
        Case{"EnforceBool", v1("enforce: true\n"), "line 2: enforce: must be none or library, not 'true'"},
        Case{"ContextNegative", v1("contextMiB: -1\n"), "line 2: contextMiB: must be a whole number from 0"},
        Case{"ContextTooLarge", v1("contextMiB: 65537\n"), "line 2: contextMiB: must be a whole number"},
        Case{"WaitTooLong", v1("memoryWaitSeconds: 3601\n"), "line 2: memoryWaitSeconds: must be a whole"},
        Case{"WaitText", v1("memoryWaitSeconds: 30s\n"), "line 2: memoryWaitSeconds: must be a whole"},
        Case{"DriverRoot", v1("driverRoot: run/nvidia\n"), "line 2: driverRoot: must be an absolute path"},
        Case{"DriverRootUp", v1("driverRoot: /run/../etc\n"),
             "line 2: driverRoot: must be an absolute path"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Nested, BadFile,
    testing::Values(
        Case{"OverridesNoList", v1("overrides: {}\n"), "line 2: overrides: must be a list"},
        Case{"OverrideNoMapping", v1("overrides:\n- 4\n"), "line 3: overrides[0]: must be a mapping"},
        Case{"OverrideNoMatch", v1("overrides:\n- deviceSplitCount: 4\n"),
             "line 3: overrides[0].match: is missing"},
        Case{"OverrideNothing", v1("overrides:\n- match: {index: 0}\n"),
             "line 3: overrides[0]: changes nothing"},
        Case{"OverrideMatchesAll", v1("overrides:\n- match: {}\n  deviceSplitCount: 4\n"),
             "line 3: overrides[0].match: names neither node, uuid, model nor index"},
        Case{"OverrideUuid",
             v1("overrides:\n- match: {index: 1}\n  deviceSplitCount: 4\n- match:\n    uuid: MIG-1\n"),
             "line 6: overrides[1].match.uuid: must be the UUID of a GPU"},
        Case{"OverrideEmptyNode", v1("overrides:\n- match: {node: ''}\n"),
             "line 3: overrides[0].match.node: must not be empty"},
        Case{"OverrideIndex", v1("overrides:\n- match: {index: -1}\n"),
             "line 3: overrides[0].match.index: must be"},
        Case{"OverrideKey", v1("overrides:\n- match: {index: 0}\n  mig: true\n"),
             "line 4: overrides[0].mig: is no known key"},
        Case{"OverrideEnforce", v1("overrides:\n- match: {index: 0}\n  enforce: yes\n"),
             "line 4: overrides[0].enforce: must be none or library"},
        Case{"OverrideAudit", v1("overrides:\n- match: {index: 0}\n  audit: {onExcess: kill}\n"),
             "line 4: overrides[0].audit.onExcess: must be report or end, not 'kill'"},
        Case{"OverrideEmptyAudit", v1("overrides:\n- match: {index: 0}\n  audit: {}\n"),
             "line 3: overrides[0]: changes nothing"},
        Case{"AuditNoMapping", v1("audit: end\n"), "line 2: audit: must be a mapping"},
        Case{"AuditKey", v1("audit: {tolerance: 1}\n"), "line 2: audit.tolerance: is no known key"},
        Case{"AuditTolerance", v1("audit: {toleranceMiB: -1}\n"),
             "line 2: audit.toleranceMiB: must be a whole number"},
        Case{"HealthNoMapping", v1("health: []\n"), "line 2: health: must be a mapping"},
        Case{"Probes", v1("health: {recoveryProbes: 0}\n"), "line 2: health.recoveryProbes: must be a whole"},
        Case{"Seconds", v1("health: {recoverySeconds: -5}\n"),
             "line 2: health.recoverySeconds: must be a whole"},
        Case{"XidsList", v1("health: {xids: [79]}\n"), "line 2: health.xids: must be a mapping of XIDs"},
        Case{"XidWord", v1("health:\n  xids:\n    lost: ignore\n"),
             "line 4: health.xids.lost: must be an XID"},
        Case{"XidZero", v1("health: {xids: {0: ignore}}\n"), "line 2: health.xids.0: must be an XID"},
        Case{"XidPadded", v1("health: {xids: {079: ignore}}\n"), "line 2: health.xids.079: must be an XID"},
        Case{"XidEmpty", v1("health: {xids: {'': ignore}}\n"), "line 2: health.xids.: must be an XID"},
        Case{"XidTwice", v1("health:\n  xids:\n    79: ignore\n    '79': unhealthy\n"),
             "line 5: health.xids.79: is given twice, first in line 4"},
        Case{"XidAction", v1("health: {xids: {79: reboot}}\n"),
             "line 2: health.xids.79: must be ignore, unhealthy or untilReset, not 'reboot'"}),
    name_of);

// Bytes of files as people write them, cut and mixed up.
RC_GTEST_PROP(BadFileProperty, AnyTextIsAnswered, ()) {
  static const std::vector<std::string> kPieces = {"version: v1\n",
                                                   "overrides:\n",
                                                   "- match: ",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   "index: ",
                                                   "7",
                                                   "-1",
                                                   "deviceSplitCount: ",
                                                   "\n",
                                                   "  ",
                                                   ": ",
                                                   ",",
                                                   "'",
                                                   "\"",
                                                   "&a ",
                                                   "*a",
                                                   "!!",
                                                   "---\n",
                                                   "|",
                                                   ">-\n",
                                                   "? ",
                                                   "health:\n",
                                                   "  xids:\n",
                                                   "79",
                                                   "#",
                                                   "%",
                                                   "\t",
                                                   std::string(1, '\0'),
                                                   "\xff",
                                                   "\\x",
                                                   "..."};
  const auto picks =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, kPieces.size()));
  std::string yaml;
  for (const std::size_t pick : picks) yaml += kPieces[pick];
  const auto settings = parse(yaml);
  if (!settings) RC_ASSERT(!settings.error().message.empty());
}

RC_GTEST_PROP(BadFileProperty, AnyBytesAreAnswered, (const std::string& bytes)) {
  const auto settings = parse("version: v1\n" + bytes);
  if (!settings) RC_ASSERT(settings.error().code == base::ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace gpupool::settings
