// Every reason for which a command may not start, and what its author is told.

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/process/supervisor.hpp>

#include <support/scale.hpp>
#include "process/running.hpp"

namespace weft::process {
namespace {

using test::program;
using test::run;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class StartError : public ::testing::Test {
 protected:
  outcome refused(const command& what, int error) {
    const outcome ended = run(with, what);
    EXPECT_EQ(ended.how, ending::not_started);
    EXPECT_EQ(ended.start_error, error) << ended.problem;
    EXPECT_EQ(ended.exit_code, -1);
    EXPECT_FALSE(ended.ok());
    return ended;
  }
  outcome refused(std::vector<std::string> argv, int error) {
    return refused(program(std::move(argv)), error);
  }

  const test::temporary_directory directory;
  supervisor with;
};

TEST_F(StartError, NoProgram) {
  EXPECT_THAT(refused(program({}), EINVAL).problem, HasSubstr("without a program; give"));
  EXPECT_THAT(refused({"", "x"}, EINVAL).problem, HasSubstr("without a program; give"));
}

TEST_F(StartError, NulByte) {
  const std::string nul("a\0b", 3);
  EXPECT_THAT(refused({"echo", "x", nul}, EINVAL).problem,
              StartsWith("cannot start \"echo\": argument 2 has a NUL byte"));
  EXPECT_THAT(refused({nul}, EINVAL).problem,
              StartsWith("cannot start \"a\\x00b\": argument 0 has a NUL byte"));
  command what = program({"echo"});
  what.cwd = nul;
  EXPECT_THAT(refused(what, EINVAL).problem, HasSubstr("cwd has a NUL byte"));
  what.cwd = "";
  what.env = {{"NAME", nul}};
  EXPECT_THAT(refused(what, EINVAL).problem, HasSubstr("\"NAME\" has a NUL byte in its value"));
}

TEST_F(StartError, NameOfAVariable) {
  for (const char* name : {"", "a=b", "="}) {
    command what = program({"echo"});
    what.env = {{name, "value"}};
    EXPECT_THAT(refused(what, EINVAL).problem, HasSubstr("needs a name, without ="));
  }
}

TEST_F(StartError, NotInPath) {
  EXPECT_EQ(refused({"weft-no-such-program"}, ENOENT).problem,
            "cannot start \"weft-no-such-program\": not found in PATH; install it, or give a path "
            "with a slash");
}

TEST_F(StartError, OnlyNotExecutableInPath) {
  test::write_file(directory / "tool", "#!/bin/sh\n", 0644);
  command what = program({"tool"});
  what.env = {{"PATH", directory.path()}};
  EXPECT_EQ(refused(what, EACCES).problem,
            "cannot start \"tool\": what PATH has of this name is not executable; chmod +x it");
}

TEST_F(StartError, NoSuchFile) {
  EXPECT_EQ(refused({"/no/such/file"}, ENOENT).problem,
            "cannot start \"/no/such/file\": no such file; correct the path");
  EXPECT_EQ(refused({"./check.sh"}, ENOENT).problem,
            "cannot start \"./check.sh\": no such file; look at cwd, which is this process's");
  command what = program({"./check.sh"});
  what.cwd = directory.path();
  EXPECT_EQ(refused(what, ENOENT).problem,
            "cannot start \"./check.sh\": no such file; look at cwd, which is \"" +
                directory.path() + "\"");
}

TEST_F(StartError, PartOfThePathIsAFile) {
  test::write_file(directory / "file", "");
  EXPECT_THAT(refused({(directory / "file") + "/x"}, ENOTDIR).problem,
              HasSubstr("a part of its path is not a directory"));
}

TEST_F(StartError, NotExecutable) {
  test::write_file(directory / "x.sh", "#!/bin/sh\n", 0644);
  EXPECT_THAT(refused({directory / "x.sh"}, EACCES).problem,
              HasSubstr("it is not executable; chmod +x it"));
}

TEST_F(StartError, Directory) {
  EXPECT_THAT(refused({directory.path()}, EACCES).problem,
              HasSubstr("it is a directory; name a program"));
}

TEST_F(StartError, InterpreterIsMissing) {
  test::write_file(directory / "x.sh", "#!/no/such/interpreter\n", 0755);
  EXPECT_THAT(refused({directory / "x.sh"}, ENOENT).problem, HasSubstr("look at its first line"));
}

TEST_F(StartError, NoProgramAtAll) {
  test::write_file(directory / "x", "just text\n", 0755);
  EXPECT_THAT(refused({directory / "x"}, ENOEXEC).problem, HasSubstr("#!/bin/sh"));
}

TEST_F(StartError, DirectoryOfTheCommand) {
  command what = program({"/bin/true"});
  what.cwd = directory / "missing";
  EXPECT_EQ(refused(what, ENOENT).problem, "cannot start \"/bin/true\": its directory \"" +
                                               what.cwd +
                                               "\" does not exist; make it, or correct cwd");
  what.cwd = "/dev/null";
  EXPECT_THAT(refused(what, ENOTDIR).problem, HasSubstr("is not a directory; correct cwd"));
}

TEST_F(StartError, PermissionOnTheWay) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to the superuser";
  ASSERT_EQ(::mkdir((directory / "closed").c_str(), 0), 0);
  EXPECT_THAT(refused({directory / "closed/x"}, EACCES).problem,
              HasSubstr("may not be entered; correct its permissions"));
  command what = program({"/bin/true"});
  what.cwd = directory / "closed";
  EXPECT_THAT(refused(what, EACCES).problem, HasSubstr("may not be entered"));
  ::chmod((directory / "closed").c_str(), 0700);
}

TEST_F(StartError, ArgumentsTooLong) {
  const std::string one(std::size_t{1} << 20U, 'x');
  EXPECT_THAT(refused({"/bin/true", one}, E2BIG).problem,
              HasSubstr("too long; pass them in a file"));
}

TEST_F(StartError, ControlCharactersInANameAreShownAsText) {
  const outcome ended = refused({"./\x1b[31m\n\"x"}, ENOENT);
  EXPECT_THAT(ended.problem, StartsWith("cannot start \"./\\x1b[31m\\x0a\\\"x\": "));
}

TEST_F(StartError, LongNameIsCut) {
  EXPECT_LT(refused({"./" + std::string(4000, 'x')}, ENAMETOOLONG).problem.size(), 400U);
}

TEST_F(StartError, TooManyOpenFilesAndNothingLeaks) {
  if (weft::test::under_asan) GTEST_SKIP() << "the sanitizer has pipes of its own";
  ASSERT_TRUE(run(with, program({"/bin/true"})).ok());
  const std::size_t before = test::count_own_descriptors();
  rlimit unlimited{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &unlimited), 0);
  // Whatever is free next is forbidden, and then the one after it.
  for (const rlim_t room : {0U, 1U}) {
    const descriptor next(::dup(0));
    const auto first_forbidden = static_cast<rlim_t>(next.get()) + 1 + room;
    const rlimit limited{first_forbidden, unlimited.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limited), 0);
    const outcome ended = run(with, program({"/bin/true"}));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &unlimited), 0);
    EXPECT_EQ(ended.how, ending::not_started);
    EXPECT_EQ(ended.start_error, EMFILE);
    EXPECT_THAT(ended.problem, HasSubstr("too many open files; raise ulimit -n"));
  }
  EXPECT_EQ(test::count_own_descriptors(), before);
  EXPECT_EQ(test::count_zombies(), 0U);
  EXPECT_TRUE(run(with, program({"/bin/true"})).ok());
}

TEST_F(StartError, TwoFreeDescriptorsAreEnough) {
  if (weft::test::under_asan) GTEST_SKIP() << "the sanitizer has pipes of its own";
  ASSERT_TRUE(run(with, program({"/bin/true"})).ok());
  rlimit unlimited{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &unlimited), 0);
  const descriptor next(::dup(0));
  const rlimit limited{static_cast<rlim_t>(next.get()) + 3, unlimited.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limited), 0);
  const outcome ended = run(with, program({"/bin/true"}));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &unlimited), 0);
  EXPECT_TRUE(ended.ok()) << ended.problem;
}

}  // namespace
}  // namespace weft::process
