// SPDX-License-Identifier: Apache-2.0
#include "planning/job/template_fields.h"

#include <gtest/gtest.h>

#include "planning/job/job_validation.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

TemplateFields small_server() {
  TemplateFieldsBuilder builder;
  const auto core = [](const char* kind) { return std::string("io.k8s.api.core.v1.") + kind; };
  const std::string to = R"({"$ref":"#/definitions/io.k8s.api.core.v1.)";
  builder.add(core("Container"), R"({"type":"object","properties":{"name":{"type":"string"},
      "command":{"type":"array","items":{"type":"string"}},"env":{"type":"array","items":)" +
                                     to + R"(EnvVar"}},
      "resources":)" + to + R"(ResourceRequirements"}}})");
  builder.add(core("EnvVar"), R"({"properties":{"name":{},"value":{}}})");
  builder.add(core("ResourceRequirements"), R"({"properties":{"limits":{"type":"object",
      "additionalProperties":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}}}})");
  builder.add(core("PodSpec"),
              R"({"properties":{"containers":{"items":)" + to + R"(Container"}},"nodeSelector":{}}})");
  builder.add("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
              R"({"properties":{"labels":{},"managedFields":
      {"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"}}})");
  builder.add("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", R"({"type":"object"})");
  builder.add(core("PodTemplateSpec"), R"({"properties":{"spec":)" + to + R"(PodSpec"},"metadata":
      {"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}})");
  builder.add(core("Secret"), "not JSON");
  return builder.build();
}

TEST(TemplateFields, NamesTheFirstUnknownField) {
  const auto server = small_server();
  const std::pair<const char*, const char*> cases[] = {
      {R"({"spec":{"containers":[{"name":"w","comand":["true"]}]}})", "spec.containers[0].comand"},
      {R"({"spec":{"containers":[{"name":"w"},{"env":[{"name":"A"},{"vaule":"b"}]}]}})",
       "spec.containers[1].env[1].vaule"},
      {R"({"metadata":{"lables":{}},"spec":{}})", "metadata.lables"},
      {R"({"sepc":{}})", "sepc"},
      {R"({"spec":{"nodeSelector":{"any":"thing"}},"metadata":{"labels":{"a/b":"c"}}})", ""},
      {R"({"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":{"x":1}}}}]}})", ""},
      {R"({"metadata":{"managedFields":{"f:spec":{"f:x":{}}}}})", ""},
      {R"({"spec":{"containers":null}})", ""},
      {R"({"spec":{"containers":["a",[{"name":"w"}]]}})", ""},  // of another type: not for this check
      {R"([{"spec":1}])", ""},
      {R"({"spec":)", ""},
  };
  for (const auto& [text, unknown] : cases) EXPECT_EQ(server.unknown_field(text), unknown) << text;
}

TEST(TemplateFields, WithoutADocumentNothingIsUnknown) {
  EXPECT_EQ(TemplateFields().unknown_field(R"({"sepc":{}})"), "");
  EXPECT_TRUE(TemplateFieldsBuilder().build().empty());
}

TEST(TemplateFields, AnUnknownFieldMakesAJobInvalid) {
  auto job = test::make_job();
  job.spec.pod_template.text = R"({"spec":{"containers":[{"name":"w","comand":["true"]}]}})";
  const auto pool = test::make_pool();
  const auto problem = validate_job(job, &pool, small_server());
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->reason, "InvalidTemplate");
  EXPECT_EQ(problem->message, "spec.template.spec.containers[0].comand: unknown field");
}

}  // namespace
}  // namespace gpupool::planning
