"""What is called of macOS is called as its headers declare it: on arm64 another prototype reads other registers."""

from __future__ import annotations

import re
from ctypes import c_bool, c_char_p, c_long, c_size_t, c_uint64, c_void_p

import pytest

from app.system import energy, objc, services
from app.system.energy import Activity

NS_PROCESS_INFO = """
+ (NSProcessInfo *)processInfo;
- (NSProcessInfoThermalState)thermalState;
- (BOOL)isLowPowerModeEnabled;
- (id<NSObject>)beginActivityWithOptions:(NSActivityOptions)options reason:(NSString *)reason;
- (void)endActivity:(id<NSObject>)activity;
"""
NS_OBJECT = """
+ (instancetype)new;
- (instancetype)retain;
- (oneway void)release;
"""
NS_STRING = """
+ (instancetype)stringWithUTF8String:(const char *)nullTerminatedCString;
- (const char *)UTF8String;
"""
APP_KIT = """
+ (NSApplication *)sharedApplication;
- (void)setServicesProvider:(id)servicesProvider;
- (NSString *)stringForType:(NSPasteboardType)dataType;
"""
RUNTIME = """
Class objc_getClass(const char *name);
SEL sel_registerName(const char *str);
void *objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void *pool);
Class objc_allocateClassPair(Class superclass, const char *name, size_t extraBytes);
BOOL class_addMethod(Class cls, SEL name, IMP imp, const char *types);
void objc_registerClassPair(Class cls);
"""
# Those that are no pointers. NSProcessInfoThermalState is an NSInteger, NSActivityOptions a uint64_t.
PLAIN = {
    "void": None,
    "oneway void": None,
    "BOOL": c_bool,
    "const char *": c_char_p,
    "size_t": c_size_t,
    "NSProcessInfoThermalState": c_long,
    "NSActivityOptions": c_uint64,
}


def methods(header: str) -> objc.Methods:
    found: objc.Methods = {}
    for line in filter(None, header.splitlines()):
        result, *types = re.findall(r"\(([^)]*)\)", line)
        selector = re.sub(r"\([^)]*\)\w*", "", line.partition(")")[2]).replace(" ", "").rstrip(";")
        found[selector] = tuple(PLAIN.get(each, c_void_p) for each in (result, *types))
    return found


def functions(header: str) -> objc.Methods:
    found: objc.Methods = {}
    for result, name, arguments in re.findall(r"(.+?)(\w+)\((.*)\);", header):
        types = [re.fullmatch(r"(.*?)\s*\w+", each.strip()) for each in arguments.split(",") if each != "void"]
        called = [result.strip(), *(each[1] for each in types if each is not None)]
        found[name] = tuple(PLAIN.get(each, c_void_p) for each in called)
    return found


@pytest.mark.parametrize(
    ("called", "declared"),
    [
        (energy.METHODS, methods(NS_PROCESS_INFO + NS_OBJECT + NS_STRING)),
        (services.METHODS, methods(NS_OBJECT + NS_STRING + APP_KIT)),
        (objc._FUNCTIONS, functions(RUNTIME)),
    ],
    ids=["energy", "services", "runtime"],
)
def test_each_call_has_the_prototype_of_its_header(called: objc.Methods, declared: objc.Methods) -> None:
    assert called == {name: declared[name] for name in called}


def test_activities_have_the_values_of_the_header() -> None:
    keeps_awake = 1 << 20  # NSActivityIdleSystemSleepDisabled
    user_initiated = 0x00FFFFFF | keeps_awake
    assert user_initiated == Activity.DOWNLOAD
    assert user_initiated & ~keeps_awake == Activity.REPLY
