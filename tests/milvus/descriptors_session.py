"""Prints what pymilvus' own descriptors say of messages and calls, for the test that holds ours against them."""

import json

from pymilvus.grpc_gen import common_pb2, milvus_pb2, rg_pb2, schema_pb2


def kind(field):
    """The wire type of a field: enumerations are numbers."""
    names = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string", 11: "message",
             12: "bytes", 13: "uint32", 14: "int32"}
    return names[field.type]


def is_repeated(field):
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


messages = {}
for module in (common_pb2, rg_pb2, schema_pb2, milvus_pb2):
    for name, message in module.DESCRIPTOR.message_types_by_name.items():
        messages[name] = {field.name: [field.number, kind(field), is_repeated(field)] for field in message.fields}
service = milvus_pb2.DESCRIPTOR.services_by_name["MilvusService"]
calls = {method.name: [method.input_type.name, method.output_type.name] for method in service.methods}


def privilege(method):
    """The name of the privilege that a call takes; none where everybody may make it."""
    options = method.input_type.GetOptions()
    if not options.HasExtension(common_pb2.privilege_ext_obj):
        return ""
    number = options.Extensions[common_pb2.privilege_ext_obj].object_privilege
    return common_pb2.ObjectPrivilege.Name(number).removeprefix("Privilege")


privileges = {method.name: privilege(method) for method in service.methods}
print(json.dumps({"messages": messages, "calls": calls, "privileges": privileges}))
